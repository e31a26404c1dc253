/** Where the server is looked for, on a disk of its own. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { commandOf, find, programIn, type Machine } from '../src/places';

let home: string;

beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'places-'));
});

afterEach(() => fs.rmSync(home, { recursive: true }));

function machine(env: Record<string, string> = {}): Machine {
  return { platform: 'linux', home, env };
}

function put(...parts: string[]): string {
  const file = path.join(home, ...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, '', { mode: 0o755 });
  return file;
}

test('nothing is found where nothing is', () => {
  assert.equal(find(machine({ PATH: `${home}/a:${home}/b` }), []), undefined);
});

test('an environment comes before the PATH', () => {
  const own = put('own', 'bin', 'lsp-complete');
  put('a', 'lsp-complete');
  const environments = [{ name: 'gone', program: path.join(home, 'gone') }, { name: 'own', program: own }];
  assert.equal(find(machine({ PATH: `${home}/a` }), environments)?.program, own);
});

for (const parts of [
  ['.local', 'bin'],
  ['.local', 'share', 'pipx', 'venvs', 'lsp-complete', 'bin'],
  ['.local', 'pipx', 'venvs', 'lsp-complete', 'bin'],
  ['.local', 'share', 'uv', 'tools', 'lsp-complete', 'bin'],
]) {
  test(`it is found in ${parts.join('/')}`, () => {
    const program = put(...parts, 'lsp-complete');
    assert.equal(find(machine(), [])?.program, program);
  });
}

test('folders that the environment names are looked into', () => {
  const program = put('tools', 'lsp-complete', 'bin', 'lsp-complete');
  assert.equal(find(machine({ UV_TOOL_DIR: path.join(home, 'tools') }), [])?.program, program);
});

test('relative entries of the PATH, folders and files that cannot be run are passed over', () => {
  fs.mkdirSync(path.join(home, 'a', 'lsp-complete'), { recursive: true });
  fs.chmodSync(put('b', 'lsp-complete'), 0o644);
  assert.equal(find(machine({ PATH: `.:bin:${home}/a:${home}/b` }), []), undefined);
});

test('Windows has its own names', () => {
  assert.match(programIn('env', 'win32'), /Scripts.lsp-complete\.exe$/);
});

test('an interpreter is asked for its module', () => {
  assert.deepEqual(commandOf('/x/python3.12', 'lsp').args, ['-P', '-m', 'lsp_complete', 'lsp']);
  assert.deepEqual(commandOf('/x/lsp-complete', 'lsp').args, ['lsp']);
});
