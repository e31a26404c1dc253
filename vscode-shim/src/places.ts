/**
 * Where the language server may be: its program, in the places where Python's installers put one. Pure but for a look
 * at the disk; knows nothing of VS Code. Nothing in a workspace is ever a candidate.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';

const NAME = 'lsp-complete';

/** What a search depends on. `paths` is as PATH, and its relative entries count for nothing. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Place {
  /** For people: who put it there. */
  readonly name: string;
  readonly program: string;
}

/** The program in an environment of Python, whether or not it is there. */
export function programIn(environment: string, platform: NodeJS.Platform, name = NAME): string {
  return platform === 'win32' ? path.join(environment, 'Scripts', `${name}.exe`) : path.join(environment, 'bin', name);
}

/** The first of the places that has a program. `environments` are asked before all others, in their order. */
export function find(machine: Machine, environments: readonly Place[]): Place | undefined {
  return [...environments, ...onPath(machine), ...installed(machine)].find((place) => isProgram(place.program));
}

/** A command of the program; a Python interpreter is asked for its module. */
export function commandOf(program: string, ...args: string[]): { command: string; args: string[] } {
  const isPython = /^python[\d.]*(\.exe)?$/i.test(path.basename(program));
  return { command: program, args: isPython ? ['-P', '-m', 'lsp_complete', ...args] : args };
}

/** All programs of that name on the PATH. */
export function onPath(machine: Machine, name = NAME): Place[] {
  const { env, platform } = machine;
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(path.delimiter).filter(path.isAbsolute);
  const file = platform === 'win32' ? `${name}.exe` : name;
  return folders.map((folder) => ({ name: 'PATH', program: path.join(folder, file) }));
}

/** What pipx and uv install; an editor that a desktop started often has no PATH that leads there. */
function installed({ platform, home, env }: Machine): Place[] {
  const data = env['XDG_DATA_HOME'] ?? path.join(home, '.local', 'share');
  const local = env['LOCALAPPDATA'] ?? path.join(home, 'AppData', 'Local');
  const roaming = env['APPDATA'] ?? path.join(home, 'AppData', 'Roaming');
  const environments: [string, string | undefined][] = [
    ['VIRTUAL_ENV', env['VIRTUAL_ENV']],
    ['conda', env['CONDA_PREFIX']],
    ['pipx', env['PIPX_HOME'] && path.join(env['PIPX_HOME'], 'venvs', NAME)],
    ['pipx', path.join(data, 'pipx', 'venvs', NAME)],
    ['pipx', path.join(home, '.local', 'pipx', 'venvs', NAME)],
    ['pipx', path.join(local, 'pipx', 'pipx', 'venvs', NAME)],
    ['uv', env['UV_TOOL_DIR'] && path.join(env['UV_TOOL_DIR'], NAME)],
    ['uv', path.join(platform === 'win32' ? path.join(roaming, 'uv', 'data') : path.join(data, 'uv'), 'tools', NAME)],
  ];
  const bins = [env['PIPX_BIN_DIR'], env['UV_TOOL_BIN_DIR'], env['XDG_BIN_HOME'], path.join(home, '.local', 'bin')];
  return [
    ...environments.flatMap(([name, folder]) => (folder ? [{ name, program: programIn(folder, platform) }] : [])),
    ...bins.flatMap((folder) => (folder ? [{ name: folder, program: path.join(folder, NAME) }] : [])),
  ];
}

export function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
