--- Keys that do something while there is a suggestion, and what they did before otherwise.
local M = {}

---@type table<string, string> what a key did, by key: a second set-up must not take ours for it
local kept = {}

--- What was mapped to the key is kept under a name of its own, so that it works as it did: an expression, a script's
--- own, a function. Without a mapping that name is the key itself.
local function keep(lhs)
  local name = ('<Plug>(lsp-complete-no-%s)'):format(lhs:gsub('[<>]', ''))
  local before = vim.fn.maparg(lhs, 'i', false, true)
  if vim.tbl_isempty(before) or before.buffer == 1 then
    vim.keymap.set('i', name, lhs)
  else
    before.lhs, before.lhsraw, before.lhsrawalt = name, vim.keycode(name), nil
    vim.fn.mapset('i', false, before)
  end
  return name
end

--- `is_on` says whether there is something to do, `command` is the Ex command that does it. For all buffers: so the
--- keys of completion menus, which are set for one buffer each, come first and fall through to these.
---@param lhs string
---@param is_on fun(): boolean
---@param command string
---@param desc string
function M.map(lhs, is_on, command, desc)
  kept[lhs] = kept[lhs] or keep(lhs)
  vim.keymap.set('i', lhs, function()
    return is_on() and ('<Cmd>%s<CR>'):format(command) or kept[lhs]
  end, { expr = true, remap = true, desc = desc })
end

return M
