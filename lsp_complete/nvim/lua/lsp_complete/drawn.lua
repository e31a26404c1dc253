--- Suggestions where Neovim has none of its own (0.11): asks after each change, draws, accepts. The server decides how
--- long to wait for the next key.
local suggestion = require('lsp_complete.suggestion')
local api = vim.api
local M = { name = 'lsp_complete' }

local METHOD = 'textDocument/inlineCompletion'
local INVOKED, AUTOMATIC = 1, 2 -- as in LSP's InlineCompletionTriggerKind
local namespace = api.nvim_create_namespace('lsp_complete')

---@class lsp_complete.Drawn what is known of a buffer
---@field found lsp_complete.Suggestion[]
---@field index integer which of them is on the screen
---@field asked? { client: vim.lsp.Client, id: integer, kind: integer, place: lsp_complete.Place }
---@field is_waiting? boolean a question is about to be asked

---@type table<integer, lsp_complete.Drawn>
local buffers = {}

local function hide(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

---@return lsp_complete.Suggestion?, string? the one on the screen, and what of it is to come
local function current(buf)
  local state = buffers[buf]
  local one = state and state.found[state.index]
  local rest = one and suggestion.rest(one, buf)
  if rest then
    return one, rest
  end
end

--- A tab is as wide in virtual text as a stop, wherever it stands; so it is spelt out.
local function spelt(line)
  return (line:gsub('\t', (' '):rep(vim.fn.shiftwidth())))
end

--- What the rest adds to what stands right of the cursor: a bracket that both end with stays where it is.
---@param one lsp_complete.Suggestion
---@param rest string
---@return string added, string hidden what it is drawn over
local function added(one, rest)
  local replaced = one.right:sub(1, one.num_replaced)
  while replaced ~= '' and rest:sub(-1) == replaced:sub(-1) do
    replaced, rest = replaced:sub(1, -2), rest:sub(1, -2)
  end
  return rest, replaced
end

local function draw(buf)
  hide(buf)
  local one, rest = current(buf)
  if not one or not rest then
    return
  end
  local text, hidden = added(one, rest)
  local lines = vim.split(text, '\n', { plain = true })
  local place, below = suggestion.place(), {}
  for number = 2, #lines do
    below[number - 1] = { { spelt(lines[number]), 'LspCompleteHint' } }
  end
  api.nvim_buf_set_extmark(buf, namespace, place.row, place.col, {
    virt_text = { { spelt(lines[1]), 'LspCompleteHint' } },
    virt_text_pos = hidden == '' and 'inline' or 'overlay',
    virt_lines = below[1] and below or nil,
    hl_mode = 'combine',
  })
  if not one.is_told then
    one.is_told = true
    suggestion.tell_shown(one)
  end
end

local function is_inserting(buf)
  return api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode:match('^i') ~= nil
end

--- The columns of what an item replaces, in bytes of the line as it was.
local function columns(item, place, encoding)
  if not item.range then
    return place.col, place.col
  end
  local function col(at)
    return vim.str_byteindex(place.line, encoding, at.character, false)
  end
  return col(item.range.start), col(item.range['end'])
end

--- An answer comes for the buffer as it was; what has been typed since may be what it says.
local function answered(buf, client, place, result)
  local state, found = buffers[buf], {}
  if not state or not is_inserting(buf) then
    return
  end
  for _, item in ipairs(result.items or result) do
    local is_here = not item.range or item.range.start.line == place.row
    if is_here then
      found[#found + 1] = suggestion.new(item, client.id, place, columns(item, place, client.offset_encoding))
    end
  end
  state.found, state.index = found, 1
  draw(buf)
end

local function give_up(buf)
  local state = buffers[buf]
  if state and state.asked then
    state.asked.client:cancel_request(state.asked.id)
    state.asked = nil
  end
end

local function ask(buf, kind)
  local state = buffers[buf]
  local client = vim.lsp.get_clients({ bufnr = buf, name = M.name, method = METHOD })[1]
  if not state or not client or not is_inserting(buf) then
    return
  end
  local place = suggestion.place()
  local is_invoked_here = state.asked and state.asked.kind == INVOKED and vim.deep_equal(state.asked.place, place)
  if kind == AUTOMATIC and is_invoked_here then
    return
  end
  give_up(buf)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.context = { triggerKind = kind }
  local asked = { client = client, kind = kind, place = place }
  local _, id = client:request(METHOD, params, function(err, result)
    if state.asked ~= asked then
      return -- a newer question has taken its place
    end
    state.asked = nil
    if not err and result then
      answered(buf, client, place, result)
    end
  end, buf)
  asked.id = id
  state.asked = id and asked
end

--- Once for all that one key does.
local function changed(buf)
  local state = buffers[buf]
  if not state then
    return
  end
  draw(buf)
  if not state.is_waiting then
    state.is_waiting = true
    vim.schedule(function()
      state.is_waiting = false
      ask(buf, AUTOMATIC)
    end)
  end
end

local function clear(buf)
  give_up(buf)
  hide(buf)
  if buffers[buf] then
    buffers[buf].found = {}
  end
end

---@return boolean
function M.enable(buf)
  if buffers[buf] then
    return true
  end
  buffers[buf] = { found = {}, index = 1 }
  local group = api.nvim_create_augroup('lsp_complete.drawn.' .. buf, {})
  local function on(events, call)
    api.nvim_create_autocmd(events, {
      group = group,
      buffer = buf,
      callback = function()
        call(buf)
      end,
    })
  end
  on({ 'InsertEnter', 'TextChangedI', 'TextChangedP', 'CursorMovedI' }, changed)
  on({ 'InsertLeave', 'BufLeave' }, clear)
  on({ 'BufWipeout' }, M.disable)
  changed(buf)
  return true
end

function M.disable(buf)
  clear(buf)
  buffers[buf] = nil
  pcall(api.nvim_del_augroup_by_name, 'lsp_complete.drawn.' .. buf)
end

---@return boolean
function M.is_shown(buf)
  return current(buf) ~= nil
end

---@param part 'all'|'word'|'line'
function M.accept(buf, part)
  local one = current(buf)
  if one and suggestion.accept(one, buf, part) then
    draw(buf)
  end
end

function M.dismiss(buf)
  local one = current(buf)
  clear(buf)
  if one then
    suggestion.tell_rejected(one)
  end
end

---@param step integer
function M.select(buf, step)
  local state = buffers[buf]
  state.index = (state.index - 1 + step) % #state.found + 1
  draw(buf)
end

---@param is_invoked boolean the user asks, and not we for him
function M.ask(buf, is_invoked)
  ask(buf, is_invoked and INVOKED or AUTOMATIC)
end

return M
