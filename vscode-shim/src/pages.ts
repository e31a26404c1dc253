/** What the server tells, as pages: figures as it draws them, in the colours of the theme, and records as plain text. */
import * as vscode from 'vscode';

const SCHEME = 'lsp-complete';
/** The page's own names for colours (telemetry/page.py), from the theme. Nothing is loaded and nothing runs. */
const THEME = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>:root { --ink: var(--vscode-editor-foreground); --dim: var(--vscode-descriptionForeground);
  --line: var(--vscode-panel-border, var(--vscode-contrastBorder)); --back: var(--vscode-editor-background);
  --card: var(--vscode-sideBar-background); --bar: var(--vscode-charts-blue); --second: var(--vscode-charts-orange);
  --track: var(--vscode-input-background) } body { color: var(--ink); background: var(--back) }</style></head>`;

/** One page, that is brought forward and renewed. */
export class Page implements vscode.Disposable {
  #panel: vscode.WebviewPanel | undefined;

  show(title: string, html: string): void {
    this.#panel ??= this.#open(title);
    this.#panel.webview.html = html.replace('</head>', THEME);
    this.#panel.reveal();
  }

  dispose(): void {
    this.#panel?.dispose();
  }

  #open(title: string): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel('lsp-complete', title, vscode.ViewColumn.Active, {});
    panel.onDidDispose(() => (this.#panel = undefined));
    return panel;
  }
}

/** Read-only documents; each has its text until it is closed. */
export class Records implements vscode.Disposable, vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registered = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
    vscode.workspace.onDidCloseTextDocument((document) => this.#texts.delete(document.uri.toString())),
  );

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  async show(title: string, record: unknown): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `${title}.yaml` });
    this.#texts.set(uri.toString(), readable(record));
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  dispose(): void {
    this.#registered.dispose();
  }
}

/** A value of JSON as indented lines; what is empty is left out. */
export function readable(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    return value.map((one) => `${indent}- ${readable(one, `${indent}  `).trimStart()}`).join('');
  }
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).map(([key, one]) => line(key.replaceAll('_', ' '), one, indent)).join('') || '\n';
  }
  return `${String(value)}\n`;
}

function line(key: string, value: unknown, indent: string): string {
  const isEmpty = value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
  if (isEmpty) {
    return '';
  }
  const isNested = typeof value === 'object';
  return `${indent}${key}:${isNested ? '\n' : ' '}${readable(value, isNested ? `${indent}  ` : indent)}`;
}
