/**
 * Suggestions from the server to the editor, and what became of them back to the server. Where the host has the proposed
 * API, it tells what is shown, taken in part and left; elsewhere our own keys tell of parts, and the server reads the rest
 * off the changes of the text.
 */
import * as vscode from 'vscode';
import { InlineCompletionRequest, type InlineCompletionItem as Item } from 'vscode-languageclient/node';
import { SELECTOR, type Client, type Connection } from './connection';

const SHOWN = 'textDocument/didShowCompletion';
const PARTLY_ACCEPTED = 'textDocument/didPartiallyAcceptCompletion';
const REJECTED = 'textDocument/didRejectCompletion';
/** Of `InlineCompletionEndOfLifeReasonKind`: by a key, not by typing something else. */
const BY_A_KEY = 1;

/** Of the proposed `inlineCompletionsAdditions`. */
interface Hooks {
  handleDidShowCompletionItem(item: vscode.InlineCompletionItem): void;
  handleDidPartiallyAcceptCompletionItem(item: vscode.InlineCompletionItem, info: number | { acceptedLength: number }): void;
  handleEndOfLifetime(item: vscode.InlineCompletionItem, reason: { kind: number }): void;
}

export class Suggestions implements vscode.Disposable {
  /** Each item as the server has it: notices quote that. An editor may show one from before the last answer. */
  readonly #sent = new WeakMap<vscode.InlineCompletionItem, Item>();
  #last: { document: vscode.TextDocument; items: vscode.InlineCompletionItem[] } | undefined;
  readonly #registered: vscode.Disposable;
  /** Whether the host tells by itself what is taken in part. */
  #hasHooks = true;

  constructor(private readonly connection: Connection) {
    this.#registered = this.#register();
  }

  /** Have the editor take a part, by its own command. A line break alone is no part worth a key. */
  async takePart(action: string): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const start = editor?.selection.active;
    await vscode.commands.executeCommand(action);
    if (editor && start && textFrom(editor, start) !== '' && textFrom(editor, start).trim() === '') {
      await vscode.commands.executeCommand(action);
    }
    if (editor && start && textFrom(editor, start) !== '' && !this.#hasHooks) {
      this.#tellPart(editor.document, new vscode.Range(start, editor.selection.active));
    }
  }

  dispose(): void {
    this.#registered.dispose();
  }

  /** A stable VS Code refuses a provider that has hooks. */
  #register(): vscode.Disposable {
    const provider: vscode.InlineCompletionItemProvider = {
      provideInlineCompletionItems: (document, position, context, token) =>
        this.#provide(document, position, context, token),
    };
    try {
      return vscode.languages.registerInlineCompletionItemProvider(SELECTOR, { ...provider, ...this.#hooks() });
    } catch {
      this.#hasHooks = false;
      return vscode.languages.registerInlineCompletionItemProvider(SELECTOR, provider);
    }
  }

  async #provide(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): Promise<vscode.InlineCompletionItem[]> {
    const client = this.connection.client;
    const found = client ? await ask(client, document, position, context, token) : [];
    for (const [item, sent] of found) {
      this.#sent.set(item, sent);
    }
    const items = found.map(([item]) => item);
    this.#last = { document, items };
    return items;
  }

  #hooks(): Hooks {
    return {
      handleDidShowCompletionItem: (item) => this.#tell(SHOWN, item),
      handleDidPartiallyAcceptCompletionItem: (item, info) => {
        if (typeof info !== 'number') { // the older form, which comes beside the newer one
          this.#tell(PARTLY_ACCEPTED, item, { acceptedLength: info.acceptedLength });
        }
      },
      handleEndOfLifetime: (item, reason) => {
        if (reason.kind === BY_A_KEY) {
          this.#tell(REJECTED, item);
        }
      },
    };
  }

  #tell(method: string, item: vscode.InlineCompletionItem, more: object = {}): void {
    const sent = this.#sent.get(item);
    if (sent) {
      this.connection.notify(method, { item: sent, ...more });
    }
  }

  /** `taken` may also be of another extension's suggestion: then it is not what ours says there. */
  #tellPart(document: vscode.TextDocument, taken: vscode.Range): void {
    for (const item of this.#last?.document === document ? this.#last.items : []) {
      const start = item.range?.start ?? taken.start;
      const text = document.getText(new vscode.Range(start, taken.end)).replaceAll('\r\n', '\n');
      if (String(item.insertText).startsWith(text) && text.length < String(item.insertText).length) {
        this.#tell(PARTLY_ACCEPTED, item, { acceptedLength: text.length });
      }
    }
  }
}

/** What stands between a place and the cursor. */
function textFrom(editor: vscode.TextEditor, start: vscode.Position): string {
  const end = editor.selection.active;
  return end.isAfter(start) ? editor.document.getText(new vscode.Range(start, end)) : '';
}

/** The editor's items with the server's. */
async function ask(
  client: Client,
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  token: vscode.CancellationToken,
): Promise<[vscode.InlineCompletionItem, Item][]> {
  const params = client.code2ProtocolConverter.asInlineCompletionParams(document, position, context);
  try {
    const result = await client.sendRequest(InlineCompletionRequest.type, params, token);
    const sent = Array.isArray(result) ? result : (result?.items ?? []);
    const items = await client.protocol2CodeConverter.asInlineCompletionResult(sent, token);
    return items.map((item, number) => [item, sent[number] as Item]);
  } catch {
    return []; // cancelled, or the server is gone, which the status says
  }
}
