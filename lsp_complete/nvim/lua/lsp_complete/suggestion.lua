--- A suggestion in a buffer: what of it is still to come, and how much of that a key takes. Draws nothing and asks
--- nobody. Rows and columns count from 0, columns are bytes.
local api = vim.api
local M = {}

---@class lsp_complete.Place where the cursor was when the suggestion was asked for, and the text of its line
---@field row integer
---@field col integer
---@field line string

---@class lsp_complete.Suggestion
---@field item table as notices quote it: `insertText`, `range`, `command`
---@field client_id integer
---@field row integer where its text begins
---@field col integer
---@field text string
---@field right string what stood right of the cursor
---@field num_replaced integer bytes of `right` that it takes the place of

---@param win? integer
---@return lsp_complete.Place
function M.place(win)
  local row, col = unpack(api.nvim_win_get_cursor(win or 0))
  local buf = api.nvim_win_get_buf(win or 0)
  return { row = row - 1, col = col, line = api.nvim_buf_get_lines(buf, row - 1, row, false)[1] or '' }
end

--- `start_col` and `end_col`: what the item replaces, all of it on the cursor's line.
---@param item table
---@param client_id integer
---@param place lsp_complete.Place
---@return lsp_complete.Suggestion
function M.new(item, client_id, place, start_col, end_col)
  local text = type(item.insertText) == 'table' and item.insertText.value or item.insertText
  return {
    item = item,
    client_id = client_id,
    row = place.row,
    col = start_col,
    text = text,
    right = place.line:sub(place.col + 1),
    num_replaced = math.max(0, end_col - place.col),
  }
end

--- What is missing at the cursor; nil where the buffer no longer says what the suggestion says. Nothing is ever
--- accepted that this does not give, so a key that comes faster than the next answer puts nothing in twice.
---@param one lsp_complete.Suggestion
---@return string?
function M.rest(one, buf)
  local place = M.place()
  local is_ahead = place.row > one.row or (place.row == one.row and place.col >= one.col)
  if not is_ahead or place.line:sub(place.col + 1) ~= one.right then
    return nil
  end
  local typed = table.concat(api.nvim_buf_get_text(buf, one.row, one.col, place.row, place.col, {}), '\n')
  local rest = one.text:sub(#typed + 1)
  return vim.startswith(one.text, typed) and rest ~= '' and rest or nil
end

--- How much of `rest` a key takes. A word is what `iskeyword` makes one, or one of punctuation, with the blanks before
--- it; a line ends before its line break, and the one before it belongs to it.
---@type table<string, fun(rest: string): string>
M.parts = {
  all = function(rest)
    return rest
  end,
  word = function(rest)
    local word = vim.fn.matchstr(rest, [[^\_s*\%(\k\+\|\%(\k\@!\S\)\+\)]])
    return word ~= '' and word or rest
  end,
  line = function(rest)
    return rest:match('^\n?[^\n]*')
  end,
}

--- Put text in at the cursor, as a step of its own for undo. `num_replaced` bytes right of it give way.
---@param text string
---@param num_replaced integer
function M.put(buf, text, num_replaced)
  local place, lines = M.place(), vim.split(text, '\n', { plain = true })
  vim.bo[buf].undolevels = vim.bo[buf].undolevels -- assigning it ends the step that is under way
  api.nvim_buf_set_text(buf, place.row, place.col, place.row, place.col + num_replaced, lines)
  local col = (#lines == 1 and place.col or 0) + #lines[#lines]
  api.nvim_win_set_cursor(0, { place.row + #lines, col })
end

--- Take a part of it, and tell the server. Returns whether there was something to take.
---@param one lsp_complete.Suggestion
---@param part 'all'|'word'|'line'
---@return boolean
function M.accept(one, buf, part)
  local rest = M.rest(one, buf)
  if not rest then
    return false
  end
  local taken = M.parts[part](rest)
  local is_whole = taken == rest
  M.put(buf, taken, is_whole and one.num_replaced or 0)
  local client = vim.lsp.get_client_by_id(one.client_id)
  if client and not is_whole then
    local length = vim.str_utfindex(one.text:sub(1, #one.text - #rest + #taken), 'utf-16')
    client:notify('textDocument/didPartiallyAcceptCompletion', { item = one.item, acceptedLength = length })
  elseif client and one.item.command then
    client:exec_cmd(one.item.command, { bufnr = buf })
  end
  return true
end

--- What Neovim lets us know and LSP has no word for, in the words of Copilot's server and one more.
---@param one lsp_complete.Suggestion
local function tell(one, method)
  local client = vim.lsp.get_client_by_id(one.client_id)
  if client then
    client:notify(method, { item = one.item })
  end
end

---@param one lsp_complete.Suggestion
function M.tell_shown(one)
  tell(one, 'textDocument/didShowCompletion')
end

--- Sent away by a key.
---@param one lsp_complete.Suggestion
function M.tell_rejected(one)
  tell(one, 'textDocument/didRejectCompletion')
end

return M
