--- The connection to the server: started for each buffer, told what it has the cursor in, heard about its state.
local api = vim.api
local M = {}

local NAME = 'lsp_complete'
local SECTION = 'lsp-complete'
-- What crashes at once each time does so five times in half a minute, and is left alone.
local RESTART_MS, MAX_RESTARTS, SIGTERM = 1000, 5, 15
local num_restarts = 0
local STARTING = { state = 'starting', detail = 'the language server is starting' }

---@type { state: string, detail: string }
local status = { state = '', detail = '' }

function M.status()
  return status
end

function M.statusline()
  if status.state == '' or status.state == 'ready' then
    return ''
  end
  return ('%s: %s'):format(SECTION, status.state)
end

local function heard(new)
  local before = status.state
  status = { state = new.state or '', detail = new.detail or '' }
  api.nvim_exec_autocmds('User', { pattern = 'LspCompleteStatus', data = status, modeline = false })
  vim.cmd.redrawstatus({ bang = true })
  if status.state == 'ready' and before ~= 'ready' then
    require('lsp_complete').refresh()
  end
end

---@return vim.lsp.Client?
function M.get(buf)
  return vim.lsp.get_clients({ bufnr = buf, name = NAME })[1] or vim.lsp.get_clients({ name = NAME })[1]
end

--- Why there is none, for people.
---@return string
function M.why_not()
  if status.state == STARTING.state then
    return STARTING.detail
  elseif #vim.lsp.get_clients({ name = NAME }) == 0 and vim.bo.buftype ~= '' then
    return 'the server starts when a file is opened'
  end
  return 'the server is not running, see :checkhealth lsp_complete'
end

local function capabilities()
  local ours = vim.lsp.protocol.make_client_capabilities()
  ours.textDocument.inlineCompletion = ours.textDocument.inlineCompletion or { dynamicRegistration = false }
  ours.experimental = { lspComplete = { status = true } }
  return ours
end

--- The server warms up for the place where the user is about to type.
local function tell_focus(buf)
  local client = vim.lsp.get_clients({ bufnr = buf, name = NAME })[1]
  if client and api.nvim_get_current_buf() == buf then
    local place = vim.lsp.util.make_position_params(0, client.offset_encoding)
    client:notify('textDocument/didFocus', place)
  end
end

local function follow_focus()
  api.nvim_create_autocmd({ 'BufEnter', 'LspAttach' }, {
    group = api.nvim_create_augroup('lsp_complete.focus', {}),
    callback = function(args)
      tell_focus(args.buf)
    end,
  })
end

--- Start a server anew that has crashed. One that is told to end does so with neither a code nor a signal but SIGTERM.
local function restart(code, signal)
  local has_crashed = code ~= 0 or (signal ~= 0 and signal ~= SIGTERM)
  if has_crashed and num_restarts < MAX_RESTARTS and vim.v.exiting == vim.NIL then
    vim.defer_fn(function()
      vim.lsp.enable(NAME)
    end, RESTART_MS * 2 ^ num_restarts)
    num_restarts = num_restarts + 1
  end
end

---@param options lsp_complete.Options
function M.start(options)
  local cmd = require('lsp_complete.server').find()
  if not cmd then
    vim.notify('lsp-complete: the server is not installed, see :checkhealth lsp_complete', vim.log.levels.WARN)
    return
  end
  vim.lsp.config(NAME, {
    cmd = cmd,
    root_markers = { '.git' },
    filetypes = options.filetypes,
    capabilities = capabilities(),
    init_options = next(options.settings) and options.settings or nil, -- an empty table would be sent as a list
    flags = { debounce_text_changes = 0 }, -- a key that contradicts an answer under way ends it
    handlers = {
      ['lsp-complete/status'] = function(_, params)
        heard(params)
      end,
    },
    before_init = function()
      heard(STARTING)
    end,
    on_init = function()
      if status.state == STARTING.state then
        heard({})
      end
    end,
    on_exit = vim.schedule_wrap(function(code, signal)
      heard({})
      restart(code, signal)
    end),
  })
  vim.lsp.enable(NAME)
  follow_focus()
end

return M
