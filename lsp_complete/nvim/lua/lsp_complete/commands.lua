--- `:LspComplete`: what the server knows, and what it can be told.
local client, server = require('lsp_complete.client'), require('lsp_complete.server')
local M = {}

local function tell(message, level)
  vim.notify('lsp-complete: ' .. message, level or vim.log.levels.INFO)
end

--- An answer as lines: texts as they are, a table's fields one a line, tables in it indented.
---@param answer any
---@param indent? string
---@return string[]
function M.lines(answer, indent)
  indent = indent or ''
  if type(answer) ~= 'table' then
    return vim.split(indent .. (answer == vim.NIL and '' or tostring(answer)), '\n', { plain = true })
  end
  local lines = {}
  for key, value in vim.spairs(answer) do
    local name = type(key) == 'string' and key .. ': ' or '- '
    if type(value) == 'table' and not vim.tbl_isempty(value) then
      vim.list_extend(lines, { indent .. name })
      vim.list_extend(lines, M.lines(value, indent .. '  '))
    elseif value ~= vim.NIL and value ~= '' and type(value) ~= 'table' then
      vim.list_extend(lines, M.lines(name .. tostring(value), indent))
    end
  end
  return lines
end

--- Below the text; `q` closes it.
local function show(lines)
  vim.cmd('botright ' .. math.min(math.max(#lines, 1), 15) .. 'new')
  local buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true })
end

---@param method string
---@param params any
---@param call fun(result: any)
local function request(method, params, call)
  local running = client.get(vim.api.nvim_get_current_buf())
  if not running then
    return tell('the server is not running, see :checkhealth lsp_complete', vim.log.levels.WARN)
  end
  running:request(method, params, function(err, result)
    if err then
      tell(err.message, vim.log.levels.WARN)
    else
      call(result)
    end
  end)
end

---@param command string
---@param arguments any[]
---@param call fun(result: any)
local function execute(command, arguments, call)
  request('workspace/executeCommand', { command = command, arguments = arguments }, call)
end

local function tell_status(status)
  tell(status.state .. (status.detail ~= '' and ': ' .. status.detail or ''))
end

local function show_records(records)
  local lines = M.lines(#records == 1 and records[1] or records)
  show(#lines > 0 and lines or { 'nothing yet' })
end

--- The command line's own report, with its tables and colours, in a terminal.
local function report(arguments)
  local cmd = server.cli(arguments)
  if not cmd then
    return tell('the server is not installed, see :checkhealth lsp_complete', vim.log.levels.WARN)
  end
  vim.cmd('botright 15new')
  vim.bo.bufhidden = 'wipe'
  vim.fn.jobstart(cmd, { term = true })
end

local function open_log(findings)
  for _, finding in ipairs(findings or {}) do
    if finding.what == 'folder: log' then
      vim.cmd.split(vim.fn.fnameescape(vim.fs.joinpath(finding.found, 'lsp.log')))
      vim.bo.readonly, vim.bo.modifiable, vim.bo.autoread = true, false, true
      return vim.cmd('normal! G')
    end
  end
  tell('no log was found, see :checkhealth lsp_complete', vim.log.levels.WARN)
end

---@type table<string, { run: fun(arguments: string[]), what: string }>
M.commands = {
  status = {
    what = 'what the server is doing',
    run = function()
      local document = vim.lsp.util.make_text_document_params()
      request('lsp-complete/status', { textDocument = document }, tell_status)
    end,
  },
  explain = {
    what = 'what became of the last question',
    run = function(arguments)
      request('lsp-complete/explain', { last = tonumber(arguments[1]) or 1 }, show_records)
    end,
  },
  stats = {
    what = 'what became of suggestions, in figures',
    run = function(arguments)
      report({ 'stats', unpack(arguments) })
    end,
  },
  snooze = {
    what = 'no suggestions for some minutes, 10 unless you say how many; 0 ends it',
    run = function(arguments)
      execute('lsp-complete.snooze', { tonumber(arguments[1]) or 10 }, tell_status)
    end,
  },
  toggle = {
    what = 'off or on; with a language: for that',
    run = function(arguments)
      if arguments[1] then
        execute('lsp-complete.toggleLanguage', { arguments[1] }, tell_status)
      else
        execute('lsp-complete.toggle', {}, tell_status)
      end
    end,
  },
  log = {
    what = "the server's log",
    run = function()
      server.doctor(open_log)
    end,
  },
}

---@param arguments string[]
function M.run(arguments)
  local name = table.remove(arguments, 1)
  local found = M.commands[name]
  if found then
    found.run(arguments)
  else
    tell('no command ' .. name .. '; there are ' .. table.concat(M.complete('', ''), ', '), vim.log.levels.WARN)
  end
end

---@return string[]
function M.complete(lead, line)
  if line:match('^%s*%S+%s+%S+%s') then
    return {}
  end
  local names = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(M.commands))
  table.sort(names)
  return names
end

return M
