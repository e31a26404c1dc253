--- `:LspComplete`: what the server knows, and what it can be told.
local client, server = require('lsp_complete.client'), require('lsp_complete.server')
local explain = require('lsp_complete.explain')
local M = {}

local function tell(message, level)
  vim.notify('lsp-complete: ' .. message, level or vim.log.levels.INFO)
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
    return tell(client.why_not(), vim.log.levels.WARN)
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

--- Of a language, the status says nothing.
local function tell_language(language)
  return function(status)
    local is_off = vim.list_contains(status.disabledLanguages, language)
    tell(('%s for %s, until Neovim is closed'):format(is_off and 'off' or 'on', language))
  end
end

local function show_records(records)
  if #records == 0 then
    return tell('nothing was asked yet')
  end
  show(#records == 1 and explain.lines(records[1]) or explain.table(records))
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

--- What a command takes: nil for no argument, a number for its least value, a function that completes what it begins with.
---@type table<string, { run: fun(argument?: any, arguments: string[]), takes?: integer|fun(lead: string): string[], usage?: string }>
M.commands = {
  status = {
    run = function()
      local document = vim.lsp.util.make_text_document_params()
      request('lsp-complete/status', { textDocument = document }, tell_status)
    end,
  },
  explain = {
    takes = 1,
    usage = 'how many of the last questions',
    run = function(count)
      request('lsp-complete/explain', { last = count or 1 }, show_records)
    end,
  },
  stats = {
    usage = "options of `lsp-complete stats`, as --since 7d",
    takes = function()
      return { '--by', '--html', '--json', '--since' }
    end,
    run = function(_, arguments)
      report({ 'stats', unpack(arguments) })
    end,
  },
  snooze = {
    takes = 0,
    usage = 'minutes, 10 unless you say how many; 0 ends it',
    run = function(minutes)
      execute('lsp-complete.snooze', { minutes or 10 }, tell_status)
    end,
  },
  toggle = {
    takes = function(lead)
      return vim.fn.getcompletion(lead, 'filetype')
    end,
    usage = 'a language, or nothing for all',
    run = function(language)
      if language then
        execute('lsp-complete.toggleLanguage', { language }, tell_language(language))
      else
        execute('lsp-complete.toggle', {}, tell_status)
      end
    end,
  },
  log = {
    run = function()
      server.doctor(open_log)
    end,
  },
}

--- The argument as a command takes it, or what is wrong with it.
---@return any, string?
local function checked(name, arguments)
  local takes, given = M.commands[name].takes, arguments[1]
  if not given then
    return nil
  end
  local number = type(takes) == 'number' and tonumber(given) or nil
  if takes == nil then
    return nil, name .. ' takes nothing'
  elseif type(takes) == 'number' and not (number and number >= takes and #arguments == 1) then
    return nil, ('%s takes %s'):format(name, M.commands[name].usage)
  elseif name == 'toggle' and not (vim.list_contains(takes(given), given) and #arguments == 1) then
    return nil, ('no language %s; toggle takes %s, as %s'):format(given, M.commands[name].usage, vim.bo.filetype)
  end
  return number or given
end

---@param arguments string[]
function M.run(arguments)
  local name = table.remove(arguments, 1)
  if not M.commands[name] then
    return tell('no command ' .. name .. '; there are ' .. table.concat(M.complete('', ''), ', '), vim.log.levels.WARN)
  end
  local argument, problem = checked(name, arguments)
  if problem then
    tell(problem, vim.log.levels.WARN)
  else
    M.commands[name].run(argument, arguments)
  end
end

---@return string[]
function M.complete(lead, line)
  local name = line:match('^%s*%S+%s+(%S+)%s')
  if name then
    local takes = (M.commands[name] or {}).takes
    return type(takes) == 'function' and takes(lead) or {}
  end
  local names = vim.tbl_filter(function(known)
    return vim.startswith(known, lead)
  end, vim.tbl_keys(M.commands))
  table.sort(names)
  return names
end

return M
