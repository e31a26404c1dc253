/** The Python environment that is active in this window, if the Python extension is here to tell. */
import * as vscode from 'vscode';
import type { Place } from './places';
import { programIn } from './places';

/** What of the Python extension's interface is used. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<PythonEnvironment | undefined>;
  };
}

interface PythonEnvironment {
  readonly executable: { readonly uri?: vscode.Uri };
  readonly environment?: { readonly folderUri: vscode.Uri };
}

/** Often it lies in the workspace, so nothing of it is run before the user trusts that. */
export async function activeEnvironment(): Promise<{ python: string; server?: Place } | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  if (!extension || !vscode.workspace.isTrusted) {
    return undefined;
  }
  try {
    const { environments } = await extension.activate();
    const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
    const found = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(resource));
    const python = found?.executable.uri?.fsPath;
    const folder = found?.environment?.folderUri.fsPath;
    const server = folder && { name: 'the active Python environment', program: programIn(folder, process.platform) };
    return python ? { python, ...(server && { server }) } : undefined;
  } catch {
    return undefined;
  }
}
