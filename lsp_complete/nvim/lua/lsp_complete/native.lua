--- Suggestions by Neovim's own means (0.12): it asks and draws. Accepting is ours: its own puts in twice what was typed
--- since the answer came, and knows neither words nor lines.
---
--- Which suggestion is on the screen Neovim does not tell, so it is read off its inside. Where that looks otherwise,
--- `enable` says no, and drawn.lua takes over.
local suggestion = require('lsp_complete.suggestion')
local api = vim.api
local M = {}

local METHOD = 'textDocument/inlineCompletion'
local INVOKED, AUTOMATIC = 1, 2 -- as in LSP's InlineCompletionTriggerKind

---@type table<integer, lsp_complete.Place> by request, while it is under way
local asked = {}
---@type table<integer, { current: table, one: lsp_complete.Suggestion }> by buffer, the last that was shown
local known = {}

--- Neovim's own record of the buffer, if it is as we know it.
local function inside(buf)
  local is_there, capability = pcall(require, 'vim.lsp._capability')
  local kind = is_there and capability.all and capability.all.inline_completion
  local found = kind and kind.active and kind.active[buf]
  for _, name in ipairs({ 'show', 'hide', 'abort', 'request', 'reset_timer' }) do
    found = found and type(found[name]) == 'function' and found or nil
  end
  return found or nil
end

--- An item of Neovim's as a suggestion. Without knowing where it was asked for, the cursor's place is taken.
local function suggestion_of(current, place)
  local item = { insertText = current.insert_text, command = current.command }
  local start_col, end_col = place.col, place.col
  if current.range then
    local start_row, from, end_row, to = current.range:to_extmark()
    if start_row ~= place.row or end_row ~= place.row then
      return nil
    end
    start_col, end_col = from, to
    local encoding = assert(vim.lsp.get_client_by_id(current.client_id)).offset_encoding
    local function position(col)
      return { line = place.row, character = vim.str_utfindex(place.line, encoding, col, false) }
    end
    item.range = { start = position(from), ['end'] = position(to) }
  end
  return suggestion.new(item, current.client_id, place, start_col, end_col)
end

---@return lsp_complete.Suggestion?
local function one_of(buf, current)
  local last = known[buf]
  if last and last.current == current then
    return last.one
  end
  return suggestion_of(current, suggestion.place())
end

--- Whether Neovim draws it right: where the buffer says what it says, and the cursor is on its first line.
local function is_right(one, buf)
  return suggestion.place().row == one.row and suggestion.rest(one, buf) ~= nil
end

--- Take from the screen what is not right: Neovim leaves it there until the next answer.
local function prune(buf)
  local found = inside(buf)
  if found and found.current and api.nvim_get_current_buf() == buf then
    local one = one_of(buf, found.current)
    if not one or not is_right(one, buf) then
      found.current = nil
      found:hide()
    end
  end
end

local function answered(buf, place)
  local found = inside(buf)
  local current = found and found.current
  if not current or not place or (known[buf] and known[buf].current == current) then
    return
  end
  local one = suggestion_of(current, place)
  if one then
    known[buf] = { current = current, one = one }
    suggestion.tell_shown(one)
  end
  prune(buf)
end

local function follow(event)
  local id, request = event.data.client_id .. ':' .. event.data.request_id, event.data.request
  if request.method ~= METHOD then
    return
  end
  if request.type == 'pending' then
    asked[id] = api.nvim_get_current_buf() == request.bufnr and suggestion.place() or nil
  elseif request.type == 'complete' then
    local place = asked[id]
    asked[id] = nil
    vim.schedule(function()
      answered(request.bufnr, place)
    end)
  end
end

---@return boolean whether it works here
function M.enable(buf)
  if not vim.lsp.inline_completion then
    return false
  end
  vim.lsp.inline_completion.enable(true, { bufnr = buf })
  if not inside(buf) then
    vim.lsp.inline_completion.enable(false, { bufnr = buf })
    return false
  end
  local group = api.nvim_create_augroup('lsp_complete.native.' .. buf, {})
  local function on(events, call)
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = call })
  end
  on({ 'LspRequest' }, follow)
  on({ 'CursorMovedI', 'TextChangedI', 'TextChangedP' }, function()
    prune(buf)
  end)
  return true
end

function M.disable(buf)
  vim.lsp.inline_completion.enable(false, { bufnr = buf })
  known[buf] = nil
  pcall(api.nvim_del_augroup_by_name, 'lsp_complete.native.' .. buf)
end

---@return boolean
function M.is_shown(buf)
  local found = inside(buf)
  return found ~= nil and found.current ~= nil
end

---@param part 'all'|'word'|'line'
function M.accept(buf, part)
  local found = assert(inside(buf))
  local current = found.current
  local one = one_of(buf, current)
  found:abort()
  if one and suggestion.accept(one, buf, part) and is_right(one, buf) then
    found.current = current
    found:show()
  end
end

function M.dismiss(buf)
  local found = assert(inside(buf))
  local one = one_of(buf, found.current)
  found:abort()
  if one then
    suggestion.tell_rejected(one)
  end
end

---@param step integer
function M.select(buf, step)
  vim.lsp.inline_completion.select({ bufnr = buf, count = step })
end

---@param is_invoked boolean the user asks, and not we for him
function M.ask(buf, is_invoked)
  local found = assert(inside(buf))
  if api.nvim_get_mode().mode:match('^i') then
    found:reset_timer() -- the automatic question of the last key would take its place
    found:request(is_invoked and INVOKED or AUTOMATIC)
  end
end

return M
