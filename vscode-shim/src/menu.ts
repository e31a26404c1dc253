/** What opens from the status bar: switches, and looks behind the scenes. */
import * as vscode from 'vscode';
import type { Status } from './connection';
import { SECTION, toggleListed } from './settings';

const SNOOZE_MINUTES = 10;

interface Entry extends vscode.QuickPickItem {
  readonly command?: string;
  readonly argument?: unknown;
}

export async function showMenu(status: Status): Promise<void> {
  const title = status.detail ? `lsp-complete: ${status.detail}` : `lsp-complete: ${status.state}`;
  const chosen = await vscode.window.showQuickPick(entries(status), { title });
  if (chosen?.command) {
    await vscode.commands.executeCommand(chosen.command, chosen.argument);
  }
}

/** Off for a language, or on again: in the user's settings, so that it stays. */
export async function toggleLanguage(): Promise<void> {
  const language = vscode.window.activeTextEditor?.document.languageId;
  if (language) {
    await toggleListed('disabled_languages', language, vscode.ConfigurationTarget.Global);
  }
}

/** Off, or on again, for what the cursor is in. A file and a folder are named in the workspace's settings. */
export async function toggleScope(): Promise<void> {
  const { ConfigurationTarget } = vscode;
  const chosen = await vscode.window.showQuickPick<Entry & { toggle: () => Promise<boolean> }>([
    ...paths().map(([label, pattern]) => ({
      label,
      description: pattern,
      toggle: () => toggleListed('exclude', pattern, ConfigurationTarget.Workspace),
    })),
    ...['comment', 'string'].map((scope) => ({
      label: `In ${scope}s`,
      description: 'in all files',
      toggle: () => toggleListed('disabled_scopes', scope, ConfigurationTarget.Global),
    })),
  ], { title: 'lsp-complete: switch off, or on again' });
  if (chosen) {
    const isOff = await chosen.toggle();
    void vscode.window.setStatusBarMessage(`lsp-complete: ${isOff ? 'off' : 'on'} · ${chosen.label.toLowerCase()}`, 4000);
  }
}

function entries(status: Status): Entry[] {
  const language = vscode.window.activeTextEditor?.document.languageId;
  const isOff = language && vscode.workspace.getConfiguration(SECTION).get<string[]>('disabled_languages', []).includes(language);
  const isSnoozed = status.state === 'snoozed';
  const group = (label: string): Entry => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    ...remedies(status.service ?? status.state),
    isSnoozed
      ? { label: '$(bell) Wake Up', command: 'lspComplete.snooze', argument: 0 }
      : { label: `$(bell-slash) Snooze for ${SNOOZE_MINUTES} Minutes`, command: 'lspComplete.snooze', argument: SNOOZE_MINUTES },
    ...(language
      ? [{ label: `$(${isOff ? 'check' : 'circle-slash'}) ${isOff ? 'On' : 'Off'} for ${language}`, command: 'lspComplete.toggleLanguage' }]
      : []),
    { label: '$(circle-slash) Off for This File, Its Folder, Comments …', command: 'lspComplete.toggleScope' },
    group('behind the scenes'),
    { label: '$(question) Explain the Last Suggestion', command: 'lspComplete.explain' },
    { label: '$(graph) Statistics', command: 'lspComplete.stats' },
    { label: '$(eye) What Left This Machine', command: 'lspComplete.audit' },
    { label: '$(output) Log', command: 'lspComplete.log' },
    { label: '$(settings-gear) Settings', command: 'workbench.action.openSettings', argument: `${SECTION}.` },
    { label: '$(debug-restart) Start the Server Again', command: 'lspComplete.restart' },
  ];
}

function remedies(state: string): Entry[] {
  const known: Record<string, Entry> = {
    'not-installed': { label: '$(cloud-download) Install the Language Server', command: 'lspComplete.install' },
    'engine-missing': { label: '$(cloud-download) Install the Language Server with Its Engine', command: 'lspComplete.install' },
    'model-missing': { label: '$(cloud-download) Fetch the Model', command: 'lspComplete.pullModel' },
  };
  const found = known[state];
  return found ? [found, { label: '', kind: vscode.QuickPickItemKind.Separator }] : [];
}

/** The active file and its folder as patterns of .gitignore, from the workspace folder's root. */
function paths(): [string, string][] {
  const document = vscode.window.activeTextEditor?.document;
  const folder = document && vscode.workspace.getWorkspaceFolder(document.uri);
  if (!document || !folder) {
    return [];
  }
  const file = document.uri.path.slice(folder.uri.path.replace(/\/$/, '').length);
  const parent = file.slice(0, file.lastIndexOf('/') + 1);
  const named: [string, string][] = [['This file', escaped(file)]];
  return parent === '/' ? named : [...named, ['Its folder', escaped(parent)]];
}

/** A path as the pattern that fits it alone. */
function escaped(file: string): string {
  return file.replace(/[\\*?[\]]|\s$/g, '\\$&');
}
