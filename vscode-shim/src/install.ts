/** Puts the server that this extension brings along into a Python environment of its own, and the model beside it. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { commandOf, onPath, programIn, type Machine, type Place } from './places';
import { SECTION } from './settings';

const IS_FIT = 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))';
const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python'];
/** Written last: an environment without it is half of one. */
const READY = '.ready';
/** An interpreter that says nothing for so long hangs, as Windows's alias for its store does. */
const PROBE_MS = 10_000;

export function thisMachine(): Machine {
  return { platform: process.platform, home: os.homedir(), env: process.env };
}

/** The environment for this version of the server; a newer extension brings another one. */
export function ownPlace(context: vscode.ExtensionContext): Place | undefined {
  const folder = ownFolder(context);
  const isReady = fs.existsSync(path.join(folder, READY));
  return isReady ? { name: 'installed by this extension', program: programIn(folder, process.platform) } : undefined;
}

/** Ask, then install. Says whether it is there now. `pythons`: interpreters to try first. */
export async function offerToInstall(
  context: vscode.ExtensionContext,
  output: vscode.LogOutputChannel,
  pythons: readonly string[],
): Promise<boolean> {
  const choice = await vscode.window.showInformationMessage(
    'lsp-complete: the language server is not on this machine. Install it, with its engine, into an environment of its own?',
    'Install',
    'Choose a Program',
  );
  if (choice === 'Choose a Program') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'lsp-complete.server.path');
  }
  return choice === 'Install' && install(context, output, pythons);
}

export async function install(
  context: vscode.ExtensionContext,
  output: vscode.LogOutputChannel,
  pythons: readonly string[],
): Promise<boolean> {
  const folder = ownFolder(context);
  return withProgress('Installing the language server', output, async (run) => {
    const python = await fitPython(pythons);
    await fs.promises.rm(path.dirname(folder), { recursive: true, force: true });
    await run(python, ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off'];
    await run(programIn(folder, process.platform, 'python'), [...pip, bundledWheel(context) + extra()]);
    await fs.promises.writeFile(path.join(folder, READY), '');
  });
}

/** The model that is set, by the server's own program. */
export async function pullModel(program: string, output: vscode.LogOutputChannel): Promise<boolean> {
  const model = vscode.workspace.getConfiguration(SECTION).get('model', 'auto');
  const { command, args } = commandOf(program, 'model', 'pull', model);
  return withProgress('Fetching the model (500 MB or more)', output, (run) => run(command, args));
}

/** The engine is for a service of this machine alone. */
function extra(): string {
  return vscode.workspace.getConfiguration(SECTION).get<string>('url') ? '' : '[cpu]';
}

function ownFolder(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'server', String(context.extension.packageJSON.version));
}

function bundledWheel(context: vscode.ExtensionContext): string {
  const folder = path.join(context.extensionPath, 'dist');
  const wheel = fs.readdirSync(folder).find((name) => name.endsWith('.whl'));
  if (!wheel) {
    throw new Error('this build of the extension brings no server along');
  }
  return path.join(folder, wheel);
}

async function fitPython(first: readonly string[]): Promise<string> {
  const machine = thisMachine();
  const found = PYTHONS.flatMap((name) => onPath(machine, name)).map((place) => place.program);
  for (const python of [...first, ...found.filter(fs.existsSync)]) {
    const probe = promisify(execFile)(python, ['-I', '-c', IS_FIT], { timeout: PROBE_MS });
    if (await probe.then(() => true, () => false)) {
      return python;
    }
  }
  throw new Error('Python 3.11, 3.12 or 3.13 with venv is needed and not on this machine (on Debian and Ubuntu: apt install python3-venv)');
}

type Run = (command: string, args: readonly string[]) => Promise<void>;

/** Shows what is going on, and at the end what went wrong. */
async function withProgress(
  title: string,
  output: vscode.LogOutputChannel,
  work: (run: Run) => Promise<void>,
): Promise<boolean> {
  const location = vscode.ProgressLocation.Notification;
  try {
    await vscode.window.withProgress({ location, title: `lsp-complete: ${title}`, cancellable: true }, (progress, token) =>
      work((command, args) => running(command, args, token, (line) => {
        output.info(line);
        progress.report({ message: line.slice(0, 80) });
      })),
    );
    return true;
  } catch (error) {
    await showFailure(`${title} failed: ${(error as Error).message}`, output);
    return false;
  }
}

/** Fails with the last line that the program said. */
async function running(
  command: string,
  args: readonly string[],
  token: vscode.CancellationToken,
  heard: (line: string) => void,
): Promise<void> {
  let last = '';
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const cancelling = token.onCancellationRequested(() => child.kill());
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split(/[\r\n]+/).filter((one) => one.trim())) {
        heard((last = line.trim()));
      }
    });
  }
  try {
    await new Promise<void>((done, failed) => {
      child.on('error', failed);
      child.on('close', (code) => (code === 0 ? done() : failed(new Error(token.isCancellationRequested ? 'cancelled' : last))));
    });
  } finally {
    cancelling.dispose();
  }
}

async function showFailure(message: string, output: vscode.LogOutputChannel): Promise<void> {
  output.error(message);
  if ((await vscode.window.showErrorMessage(`lsp-complete: ${message}`, 'Show Log')) === 'Show Log') {
    output.show();
  }
}
