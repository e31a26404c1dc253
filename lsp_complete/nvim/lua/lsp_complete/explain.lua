--- What became of a question, in lines that fit on a screen. Knows records as the server has them, and draws nothing.
local M = {}

-- How a rung of the ladder of reuse reads; others are their own words.
local RUNGS = {
  network = 'the service was asked',
  ['typed-through'] = 'what an earlier answer says, typed into',
  backspaced = 'what an earlier answer says, come back to',
  cache = 'an answer from before',
  ['in-flight'] = 'an answer that was under way',
  ['follow-up'] = 'an answer that was asked for ahead',
}
local MAX_FILES = 8

---@return string? nil where there is nothing to say
local function said(value)
  return value ~= nil and value ~= vim.NIL and value ~= '' and tostring(value) or nil
end

local function list(...)
  local parts = {}
  for _, part in pairs({ ... }) do
    parts[#parts + 1] = part or nil
  end
  return table.concat(parts, ', ')
end

local function place(record)
  return ('%s  %s:%s'):format(os.date('%H:%M:%S', record.at_s), record.path, record.line)
end

local function outcome(record)
  return said(record.outcome) or list(said(record.reason), said(record.detail))
end

--- The stages in the order of what they took.
local function stages(timing)
  local names = vim.tbl_filter(function(name)
    return name ~= 'total' and timing[name] >= 1
  end, vim.tbl_keys(timing))
  table.sort(names, function(a, b)
    return timing[a] > timing[b]
  end)
  return vim.tbl_map(function(name)
    return ('%s %.0f'):format(name, timing[name])
  end, names)
end

local function times(record)
  local timing = type(record.timing_ms) == 'table' and record.timing_ms or {}
  if not timing.total then
    return nil
  end
  local pause = said(record.debounce_ms)
  local waited = pause and (' after a pause of %.0f ms at most'):format(pause) or ''
  return ('%.0f ms%s: %s'):format(timing.total, waited, table.concat(stages(timing), ', '))
end

local function tokens(usage)
  if (usage.prompt_tokens or 0) == 0 then
    return nil
  end
  local written = usage.completion_tokens or 0
  return ('%d of the prompt, %d of them cached; %d written'):format(usage.prompt_tokens, usage.cached_tokens, written)
end

--- The files that the model saw, or those that were left out, with the reason.
---@return string[]
local function files(record, is_cut)
  local found = {}
  for _, one in ipairs(record.snippets or {}) do
    if (one.cut ~= '') == is_cut then
      local why = is_cut and one.cut or ('%s, %d tokens'):format(one.source, one.tokens)
      found[#found + 1] = ('%s (%s)'):format(one.path, why)
    end
  end
  local num_more = #found - MAX_FILES
  found = vim.list_slice(found, 1, MAX_FILES)
  if num_more > 0 then
    found[#found + 1] = ('and %d more'):format(num_more)
  end
  return found
end

local function add(lines, name, text)
  for number, line in ipairs(type(text) == 'table' and text or { text }) do
    lines[#lines + 1] = ('%-9s %s'):format(number == 1 and name or '', line)
  end
end

--- One record in full.
---@param record table
---@return string[]
function M.lines(record)
  local lines = { place(record) }
  local redacted = record.num_redacted or 0
  add(lines, 'outcome', outcome(record))
  add(lines, 'asked', list(record.trigger, record.mode, said(record.language)))
  add(lines, 'answer', said(record.rung) and (RUNGS[record.rung] or record.rung) or nil)
  add(lines, 'length', record.num_characters > 0 and record.num_characters .. ' characters' or nil)
  add(lines, 'took', times(record))
  add(lines, 'tokens', tokens(record.usage))
  add(lines, 'model', said(record.model))
  add(lines, 'filters', next(record.filters or {}) and table.concat(record.filters, ', ') or nil)
  add(lines, 'covered', redacted > 0 and redacted .. ' credentials' or nil)
  add(lines, 'saw', files(record, false))
  add(lines, 'left out', files(record, true))
  return lines
end

--- Several, a line each, the newest first.
---@param records table[]
---@return string[]
function M.table(records)
  local lines = {}
  for number = #records, 1, -1 do
    local one = records[number]
    lines[#lines + 1] = ('%s  %s'):format(place(one), list(outcome(one), said(one.rung), said(one.mode)))
  end
  return lines
end

return M
