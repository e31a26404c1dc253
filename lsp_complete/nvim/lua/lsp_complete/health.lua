--- `:checkhealth lsp_complete`: is everything here that a suggestion in this Neovim needs?
local M = {}

-- `doctor` asks services that may not answer.
local PATIENCE_MS = 30000
local ADVICE = {
  'in a checkout: pipx install ".[cpu]", or uv tool install ".[cpu]"',
  'or say where it is: setup({ cmd = { "/path/to/lsp-complete", "lsp" } })',
}

local function check_neovim()
  local health, version = vim.health, tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 0 then
    health.error('Neovim ' .. version .. ': 0.11 or later is needed')
  elseif vim.lsp.inline_completion then
    health.ok('Neovim ' .. version .. ': has suggestions of its own')
  else
    health.ok('Neovim ' .. version .. ': this plugin draws the suggestions')
  end
end

---@return boolean
local function check_server()
  local cmd, place = require('lsp_complete.server').find()
  if not cmd then
    vim.health.error('the server was not found', advice())
  elseif vim.fn.executable(cmd[1]) == 0 then
    vim.health.error(('%s (%s) cannot be run'):format(cmd[1], place), advice())
  else
    vim.health.ok(('server: %s, from %s'):format(table.concat(cmd, ' '), place))
    return true
  end
  return false
end

local function check_client()
  local complete = require('lsp_complete')
  local clients = vim.lsp.get_clients({ name = complete.NAME })
  if #clients == 0 then
    vim.health.warn('no buffer has the server', { "is there a require('lsp_complete').setup({})?", 'open a file' })
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    vim.health.ok(('running for %s, %d buffers'):format(client.root_dir or 'single files', buffers))
  end
  local status = complete.status()
  if status.state ~= '' then
    vim.health.info(('state: %s %s'):format(status.state, status.detail))
  end
end

local function check_keys()
  for name, lhs in vim.spairs(require('lsp_complete').options.keys or {}) do
    local map = lhs and vim.fn.maparg(lhs, 'i', false, true) or {}
    if lhs and not (map.desc or ''):match('suggestion') then
      local by = map.desc or map.rhs or 'nothing'
      vim.health.info(('%s (%s) is mapped to %s; it falls through to ours if that lets it'):format(lhs, name, by))
    end
  end
end

--- Others that draw in the same place.
local function check_neighbours()
  local is_cmp, cmp = pcall(require, 'cmp')
  if is_cmp and type(cmp.get_config) == 'function' then
    if (cmp.get_config().experimental or {}).ghost_text then
      vim.health.warn('nvim-cmp draws ghost text, too', { 'experimental = { ghost_text = false }' })
    end
  end
  local is_blink, blink = pcall(require, 'blink.cmp.config')
  if is_blink and vim.tbl_get(blink, 'completion', 'ghost_text', 'enabled') == true then
    vim.health.warn('blink.cmp draws ghost text, too', { 'completion = { ghost_text = { enabled = false } }' })
  end
  if vim.fn.exists(':Copilot') == 2 then
    vim.health.warn('Copilot is here, too: both draw, and both want <Tab>')
  end
end

local function check_machine()
  local is_done, found = false, nil
  require('lsp_complete.server').doctor(function(findings)
    is_done, found = true, findings
  end)
  vim.wait(PATIENCE_MS, function()
    return is_done
  end)
  if not found then
    vim.health.error('`lsp-complete doctor` says nothing')
  end
  for _, finding in ipairs(found or {}) do
    local line = finding.what .. ': ' .. finding.found
    if finding.mend == '' then
      vim.health.ok(line)
    else
      vim.health.warn(line, { finding.mend })
    end
  end
end

function M.check()
  vim.health.start('lsp-complete')
  check_neovim()
  local is_installed = check_server()
  check_client()
  check_keys()
  check_neighbours()
  if is_installed then
    vim.health.start('lsp-complete: this machine')
    check_machine()
  end
end

return M
