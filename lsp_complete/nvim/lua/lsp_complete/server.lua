--- Where the language server is: its program, in the places where Python's installers put one.
local M = {}

local NAME = 'lsp-complete'
local is_windows = vim.fn.has('win32') == 1
local BIN, SUFFIX = is_windows and 'Scripts' or 'bin', is_windows and '.exe' or ''

---@param ... string?
---@return string? nil where a part is missing
local function joined(...)
  local parts = { ... }
  for number = 1, select('#', ...) do
    if not parts[number] or parts[number] == '' then
      return nil
    end
  end
  return vim.fs.joinpath(...)
end

--- The folder of the Python package that this plugin is a part of, unless it was copied: this file is
--- `lsp_complete/nvim/lua/lsp_complete/server.lua` in it.
local function surroundings()
  local folder = debug.getinfo(1, 'S').source:sub(2)
  for _ = 1, 5 do
    folder = vim.fs.dirname(folder)
  end
  return folder
end

--- The checkout that this plugin runs from, if it does.
---@return string?
function M.checkout()
  local folder = surroundings()
  local is_one = vim.fn.filereadable(vim.fs.joinpath(folder, 'pyproject.toml')) == 1
  return is_one and folder or nil
end

--- Python's packages lie in `FOLDER/lib/python3.x/site-packages`, on Windows in `FOLDER/Lib/site-packages`.
local function own_environment()
  local packages = surroundings()
  if vim.fs.basename(packages) ~= 'site-packages' then
    return nil
  end
  local lib = vim.fs.dirname(packages)
  return vim.fs.dirname(is_windows and lib or vim.fs.dirname(lib))
end

---@return { [1]: string, [2]: string? }[] what a place is called, and the program there
local function places()
  local env, home = vim.env, vim.uv.os_homedir()
  local data = env.XDG_DATA_HOME or joined(home, '.local', 'share')
  local windows_data = env.LOCALAPPDATA or env.APPDATA
  local pipx = env.PIPX_HOME or joined(data, 'pipx')
  local uv = env.UV_TOOL_DIR or joined(is_windows and env.APPDATA or data, 'uv', 'tools')
  return {
    { 'the environment of this plugin', joined(own_environment(), BIN, NAME) },
    { 'the checkout of this plugin', joined(M.checkout(), '.venv', BIN, NAME) },
    { 'PATH', vim.fn.exepath(NAME) },
    { 'the virtual environment', joined(env.VIRTUAL_ENV, BIN, NAME) },
    { 'the conda environment', joined(env.CONDA_PREFIX, BIN, NAME) },
    { 'pipx', joined(pipx, 'venvs', NAME, BIN, NAME) },
    { 'pipx', joined(home, '.local', 'pipx', 'venvs', NAME, BIN, NAME) },
    { 'pipx', joined(windows_data, 'pipx', 'pipx', 'venvs', NAME, BIN, NAME) },
    { 'uv', joined(uv, NAME, BIN, NAME) },
    { 'the programs of pipx and uv', joined(env.PIPX_BIN_DIR or env.UV_TOOL_BIN_DIR or env.XDG_BIN_HOME, NAME) },
    { 'the programs of pipx and uv', joined(home, '.local', 'bin', NAME) },
  }
end

--- The command that starts the server, and where it was found; nil where it is not here. Nothing in a workspace is
--- ever looked for, let alone run.
---@return string[]?, string?
function M.find()
  local setting = require('lsp_complete').options.cmd
  if setting then
    return setting, 'the setting `cmd`'
  end
  for _, place in ipairs(places()) do
    local name, program = place[1], place[2] or ''
    if not vim.endswith(program, SUFFIX) then
      program = program .. SUFFIX
    end
    if program ~= '' and vim.fn.executable(program) == 1 then
      return { program, 'lsp' }, name
    end
  end
end

--- Another command of the same program.
---@param arguments string[]
---@return string[]?
function M.cli(arguments)
  local cmd = M.find()
  return cmd and vim.list_extend(vim.list_slice(cmd, 1, #cmd - 1), arguments)
end

--- What `lsp-complete doctor` finds, one finding after the other; nil where it cannot be run. It takes seconds.
---@param call fun(findings?: { what: string, found: string, mend: string }[])
function M.doctor(call)
  local function done(result)
    local is_read, findings = pcall(vim.json.decode, result.stdout)
    call(is_read and findings or nil)
  end
  local cmd = M.cli({ 'doctor', '--json' })
  if not cmd or not pcall(vim.system, cmd, { text = true }, vim.schedule_wrap(done)) then
    call(nil)
  end
end

return M
