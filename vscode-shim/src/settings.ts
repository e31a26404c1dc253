/** The user's choices as the server takes them: only what is set, so that its file and its environment count, too. */
import * as vscode from 'vscode';

export const SECTION = 'lsp-complete';
/** Settings of this extension, which the server does not know. */
const OUR_OWN = new Set(['server.path']);

export function chosenSettings(names: readonly string[]): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  const chosen = names.map((name) => [name, chosenValue(configuration, name)] as const);
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
}

/** The names of the server's settings, from package.json, where a script has put them. */
export function settingNames(extension: vscode.Extension<unknown>): string[] {
  const { properties } = extension.packageJSON.contributes.configuration as { properties: Record<string, unknown> };
  return Object.keys(properties)
    .map((name) => name.slice(SECTION.length + 1))
    .filter((name) => !OUR_OWN.has(name));
}

export function serverPath(): string {
  return vscode.workspace.getConfiguration(SECTION).get<string>('server.path', '').trim();
}

/** All lists keep something from being suggested or sent: a workspace can add to the user's, and take nothing away. */
function chosenValue(configuration: vscode.WorkspaceConfiguration, name: string): unknown {
  const found = configuration.inspect<unknown>(name);
  const set = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].filter((v) => v !== undefined);
  if (set.length === 0) {
    return undefined;
  }
  return set.every(Array.isArray) ? [...new Set(set.flat())] : configuration.get(name);
}

/** Put a value into a list, or take it out of it; says whether it is in it now. */
export async function toggleListed(name: string, value: string, target: vscode.ConfigurationTarget): Promise<boolean> {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  const found = configuration.inspect<string[]>(name);
  const isUsers = target === vscode.ConfigurationTarget.Global;
  const listed = (isUsers ? found?.globalValue : found?.workspaceValue) ?? [];
  const isListed = listed.includes(value);
  const next = isListed ? listed.filter((one) => one !== value) : [...listed, value];
  await configuration.update(name, next.length > 0 ? next : undefined, target);
  return !isListed;
}
