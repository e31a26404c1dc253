/** The item in the status bar: what the server is doing, in a word and an icon. Opens the menu. */
import * as vscode from 'vscode';
import type { Status } from './connection';

const ICONS: Readonly<Record<string, string>> = {
  ready: 'sparkle',
  starting: 'loading~spin',
  loading: 'loading~spin',
  snoozed: 'bell-slash',
  off: 'circle-slash',
  'rate-limited': 'watch',
  offline: 'cloud-offline',
  stopped: 'debug-disconnect',
};
const OTHER_ICON = 'warning';
/** What a user should do something about. */
const IS_WARNING = new Set(['not-installed', 'model-missing', 'engine-missing', 'failed', 'unauthorized']);

export class StatusBar implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  #status: Status = { state: 'starting', detail: '' };

  constructor(command: string) {
    this.#item = vscode.window.createStatusBarItem('lsp-complete', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = 'lsp-complete';
    this.#item.command = command;
    this.show(this.#status);
    this.#item.show();
  }

  get status(): Status {
    return this.#status;
  }

  show(status: Status): void {
    this.#status = status;
    const { state, detail } = status;
    const isReady = state === 'ready';
    this.#item.text = `$(${ICONS[state] ?? OTHER_ICON}) lsp-complete${isReady ? '' : `: ${state}`}`;
    this.#item.tooltip = detail ? `lsp-complete: ${detail}` : `lsp-complete: ${state}`;
    this.#item.backgroundColor = IS_WARNING.has(state)
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.#item.accessibilityInformation = { label: `lsp-complete: ${state}. ${detail}` };
  }

  dispose(): void {
    this.#item.dispose();
  }
}
