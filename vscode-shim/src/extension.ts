/** lsp-complete for VS Code: puts the pieces together, and gives each command what it does. */
import * as vscode from 'vscode';
import { Connection } from './connection';
import { install, offerToInstall, ownPlace, pullModel, thisMachine } from './install';
import { showMenu, toggleLanguage, toggleScope } from './menu';
import { Page, Records } from './pages';
import { find, isProgram, type Place } from './places';
import { activeEnvironment } from './python';
import { SECTION, serverPath, settingNames } from './settings';
import { StatusBar } from './status';
import { Suggestions } from './suggestions';

/** Of records, the newest first: what a user has just seen is among them. */
const NUM_SHOWN = 20;

let connection: Connection | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel('lsp-complete', { log: true });
  const statusBar = new StatusBar('lspComplete.menu');
  const server = (connection = new Connection(output, settingNames(context.extension), () => findServer(context)));
  const suggestions = new Suggestions(server);
  context.subscriptions.push(output, statusBar, suggestions);
  server.onStatus((status) => statusBar.show(status));
  follow(context, server);
  registerCommands(context, { output, statusBar, server, suggestions });
  await server.start();
  if (statusBar.status.state === 'not-installed' && !serverPath()) {
    void vscode.commands.executeCommand('lspComplete.install', { ask: true });
  }
}

/** The server says good-bye to the completion service, which may then end. */
export function deactivate(): Promise<void> | undefined {
  return connection?.dispose();
}

/** The server's program, or why there is none. */
async function findServer(context: vscode.ExtensionContext): Promise<Place | string> {
  const path = serverPath();
  if (path) {
    return isProgram(path) ? { name: 'the setting', program: path } : `there is no program ${path} (lsp-complete.server.path)`;
  }
  const active = (await activeEnvironment())?.server;
  const own = ownPlace(context);
  const found = find(thisMachine(), [own, active].filter((place) => place !== undefined));
  return found ?? 'the language server is not on this machine';
}

/** What the server is told of: where the cursor goes, and what is set. */
function follow(context: vscode.ExtensionContext, server: Connection): void {
  const focus = (editor: vscode.TextEditor | undefined): void => {
    if (editor) {
      const { line, character } = editor.selection.active;
      const textDocument = { uri: editor.document.uri.toString() };
      server.notify('textDocument/didFocus', { textDocument, position: { line, character } });
    }
    void server.refresh();
  };
  context.subscriptions.push(
    server.onStarted(() => focus(vscode.window.activeTextEditor)),
    vscode.window.onDidChangeActiveTextEditor(focus),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.client || void server.start()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SECTION}.server.path`)) {
        void server.start();
      } else if (event.affectsConfiguration(SECTION)) {
        server.sendSettings();
      }
    }),
  );
}

interface Parts {
  readonly output: vscode.LogOutputChannel;
  readonly statusBar: StatusBar;
  readonly server: Connection;
  readonly suggestions: Suggestions;
}

/** The server's own commands have its name, with a hyphen; the client library registers those. */
function registerCommands(context: vscode.ExtensionContext, parts: Parts): void {
  const { output, statusBar, server, suggestions } = parts;
  const [records, page] = [new Records(), new Page()];
  const showRecords = async (found: Promise<unknown[] | undefined>, title: string): Promise<void> =>
    records.show(title, ((await found) ?? []).reverse());
  const commands: Record<string, (argument?: never) => unknown> = {
    acceptWord: () => suggestions.takePart('editor.action.inlineSuggest.acceptNextWord'),
    acceptLine: () => suggestions.takePart('editor.action.inlineSuggest.acceptNextLine'),
    menu: () => showMenu(statusBar.status),
    snooze: (minutes?: number) => server.execute('lsp-complete.snooze', minutes ?? 10),
    toggle: () => server.execute('lsp-complete.toggle'),
    toggleLanguage,
    toggleScope,
    explain: () => showRecords(server.execute<unknown[]>('lsp-complete.explain', NUM_SHOWN), 'explain'),
    audit: () => showRecords(sent(server), 'what-left-this-machine'),
    stats: async () => page.show('lsp-complete: statistics', (await server.execute<string>('lsp-complete.stats', 'html')) ?? ''),
    log: () => output.show(),
    restart: () => server.start(),
    install: (how?: { ask: boolean }) => installed(context, parts, how?.ask ?? false),
    pullModel: () => pulled(context, parts),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`lspComplete.${name}`, run));
  }
  context.subscriptions.push(records, page);
}

async function sent(server: Connection): Promise<unknown[] | undefined> {
  return (await server.execute<{ requests: unknown[] }>('lsp-complete.audit', NUM_SHOWN))?.requests;
}

async function installed(context: vscode.ExtensionContext, { output, server }: Parts, ask: boolean): Promise<void> {
  const python = (await activeEnvironment())?.python;
  const done = await (ask ? offerToInstall : install)(context, output, python ? [python] : []);
  if (done) {
    await server.start();
  }
}

async function pulled(context: vscode.ExtensionContext, { output, server }: Parts): Promise<void> {
  const place = await findServer(context);
  if (typeof place !== 'string' && (await pullModel(place.program, output))) {
    await server.start();
  }
}
