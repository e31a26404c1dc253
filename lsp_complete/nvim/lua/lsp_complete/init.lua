--- lsp-complete for Neovim 0.11 and later: starts the language server, shows its suggestions, has keys for them.
---
---     require('lsp_complete').setup({})
local api = vim.api
local M = {}

M.NAME = 'lsp_complete'

---@class lsp_complete.Options
---@field cmd? string[] the server, where it is not found by itself: { '/path/to/lsp-complete', 'lsp' }
---@field settings? table the server's settings: those of config.toml
---@field keys? table<string, string|false>|false other keys, false for none
---@field drawing? 'native'|'own' who draws: Neovim where it can, or this plugin everywhere
---@field filetypes? string[] instead of all
M.options = {
  settings = {},
  keys = {
    accept = '<Tab>',
    accept_word = '<M-Right>',
    accept_line = '<M-C-Right>',
    dismiss = '<C-]>',
    next = '<M-]>',
    previous = '<M-[>',
    trigger = '<M-Bslash>',
  },
  drawing = 'native',
}

---@type table<integer, table> by buffer: native.lua or drawn.lua
local layers = {}

local function layer()
  return layers[api.nvim_get_current_buf()]
end

--- Whether there is a suggestion at the cursor.
---@return boolean
function M.is_shown()
  local found = layer()
  return found ~= nil and found.is_shown(api.nvim_get_current_buf())
end

--- Take the suggestion, or a part of it. Does nothing where there is none.
---@param part? 'all'|'word'|'line'
---@return boolean whether there was one
function M.accept(part)
  local is_shown = M.is_shown()
  if is_shown then
    layer().accept(api.nvim_get_current_buf(), part or 'all')
  end
  return is_shown
end

function M.dismiss()
  if M.is_shown() then
    layer().dismiss(api.nvim_get_current_buf())
  end
end

--- Another suggestion for the same place, if there are several.
function M.next()
  if M.is_shown() then
    layer().select(api.nvim_get_current_buf(), 1)
  end
end

function M.previous()
  if M.is_shown() then
    layer().select(api.nvim_get_current_buf(), -1)
  end
end

--- Ask now, also where nothing is asked by itself.
function M.trigger()
  if layer() then
    layer().ask(api.nvim_get_current_buf(), true)
  end
end

--- The service is there now: who has stopped typing before it was, waits for a suggestion.
function M.refresh()
  if layer() and not M.is_shown() then
    layer().ask(api.nvim_get_current_buf(), false)
  end
end

local KEYS = {
  accept = { [[lua require('lsp_complete').accept('all')]], 'Accept the suggestion' },
  accept_word = { [[lua require('lsp_complete').accept('word')]], 'Accept a word of the suggestion' },
  accept_line = { [[lua require('lsp_complete').accept('line')]], 'Accept a line of the suggestion' },
  dismiss = { [[lua require('lsp_complete').dismiss()]], 'Dismiss the suggestion' },
  next = { [[lua require('lsp_complete').next()]], 'Next suggestion' },
  previous = { [[lua require('lsp_complete').previous()]], 'Previous suggestion' },
  trigger = { [[lua require('lsp_complete').trigger()]], 'Ask for a suggestion' },
}

local function map_keys()
  for name, lhs in pairs(M.options.keys or {}) do
    local does = KEYS[name]
    if does and lhs then
      local is_on = name == 'trigger' and function()
        return layer() ~= nil
      end or M.is_shown
      require('lsp_complete.keys').map(lhs, is_on, does[1], does[2])
    end
  end
end

local function attach(buf)
  local native, drawn = require('lsp_complete.native'), require('lsp_complete.drawn')
  local first = M.options.drawing == 'native' and native or drawn
  if not layers[buf] then
    layers[buf] = first.enable(buf) and first or (drawn.enable(buf) and drawn)
  end
end

local function detach(buf)
  if layers[buf] then
    layers[buf].disable(buf)
    layers[buf] = nil
  end
end

local function follow_buffers()
  local group = api.nvim_create_augroup('lsp_complete', {})
  local function on(event, call)
    api.nvim_create_autocmd(event, {
      group = group,
      callback = function(args)
        local client = vim.lsp.get_client_by_id(args.data.client_id)
        if client and client.name == M.NAME then
          call(args.buf, client)
        end
      end,
    })
  end
  on('LspAttach', attach)
  on('LspDetach', detach)
end

--- What the server is doing: a state and a line on it; `state` is empty where it is not running.
---@return { state: string, detail: string }
function M.status()
  return require('lsp_complete.client').status()
end

--- For the status line; empty while all is well, or where there is no server.
---@return string
function M.statusline()
  return require('lsp_complete.client').statusline()
end

---@param options? lsp_complete.Options
function M.setup(options)
  M.options = vim.tbl_deep_extend('force', M.options, options or {})
  if vim.fn.has('nvim-0.11') == 0 then
    vim.notify('lsp-complete: Neovim 0.11 or later is needed', vim.log.levels.WARN)
    return
  end
  local look = vim.fn.hlexists('ComplHint') == 1 and 'ComplHint' or 'NonText'
  api.nvim_set_hl(0, 'LspCompleteHint', { link = look, default = true })
  follow_buffers()
  map_keys()
  require('lsp_complete.client').start(M.options)
end

return M
