/**
 * The language server as a child of this window: found, started, started again after a crash, told of settings. Does not
 * know what is suggested, nor how its state is shown.
 */
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandRequest,
  InlineCompletionRequest,
  LanguageClient,
  RevealOutputChannelOn,
  type ClientCapabilities,
  type DynamicFeature,
  type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { commandOf, type Place } from './places';
import { SECTION, chosenSettings } from './settings';

/** Documents that the server holds in full; it passes over those of other schemes. */
export const SELECTOR = [{ scheme: 'file' }, { scheme: 'untitled' }];
const STATUS = 'lsp-complete/status';
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** A server that has lived so long did not crash for a reason that makes the next one crash at once. */
const STABLE_MS = 60_000;

/** As the server sends it; `state` is one of its words, or of ours while there is no server. */
export interface Status {
  readonly state: string;
  readonly detail: string;
  /** What the completion service of this machine is doing, where that is used. */
  readonly service?: string | null;
}

export class Connection implements vscode.Disposable {
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #numCrashes = 0;
  #isClosed = false;
  readonly #started = new vscode.EventEmitter<Client>();
  readonly #changed = new vscode.EventEmitter<Status>();
  /** A server is there and has been initialized. */
  readonly onStarted = this.#started.event;
  readonly onStatus = this.#changed.event;

  constructor(
    private readonly output: vscode.LogOutputChannel,
    private readonly settingNames: readonly string[],
    /** The server's program, or why there is none. */
    private readonly find: () => Promise<Place | string>,
  ) {}

  get client(): Client | undefined {
    return this.#client?.isRunning() ? this.#client : undefined;
  }

  /** Look for the server and start it; a running one is stopped before. Never fails: `onStatus` hears of it. */
  async start(): Promise<void> {
    await this.#stop();
    const place = await this.find();
    if (this.#isClosed || this.#client) {
      return;
    }
    if (typeof place === 'string') {
      this.#changed.fire({ state: 'not-installed', detail: place });
      return;
    }
    this.output.info(`server: ${place.program} (${place.name})`);
    await this.#run(place);
  }

  /** What the server's command gives; undefined, and a line in the log, where it gives nothing. */
  async execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    try {
      return (await this.client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: args })) as T | undefined;
    } catch (error) {
      this.output.error(`${command}: ${String(error)}`);
      return undefined;
    }
  }

  notify(method: string, params: object): void {
    void this.client?.sendNotification(method, params).catch(() => undefined);
  }

  /** What the server tells of is for the whole session: there may be more to say of the document in view. */
  async refresh(told?: Status): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    const asked = uri && this.client?.sendRequest<Status>(STATUS, { textDocument: { uri } }).catch(() => undefined);
    const status = (await asked) || told;
    if (status) {
      this.#changed.fire(status);
    }
  }

  sendSettings(): void {
    const settings = { [SECTION]: chosenSettings(this.settingNames) };
    this.notify('workspace/didChangeConfiguration', { settings });
  }

  async dispose(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
  }

  async #run(place: Place): Promise<void> {
    const startedAt = Date.now();
    const options = this.#options(() => this.#ended(startedAt));
    const client = (this.#client = new Client(SECTION, SECTION, commandOf(place.program, 'lsp'), options));
    client.onNotification(STATUS, (status: Status) => void this.refresh(status));
    this.#changed.fire({ state: 'starting', detail: 'the language server is starting' });
    try {
      await client.start();
      if (this.#client !== client) {
        await client.dispose(); // while it started, somebody asked for another one
        return;
      }
      this.#started.fire(client);
    } catch (error) {
      this.output.error(`the server does not start: ${String(error)}`);
      this.#ended(startedAt, client);
    }
  }

  #options(closed: () => void): LanguageClientOptions {
    return {
      documentSelector: SELECTOR,
      outputChannel: this.output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: chosenSettings(this.settingNames),
      initializationFailedHandler: () => false, // a server that ends at once is heard of below, without a pop-up
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          closed();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /** Start again after a while: 1, 2, 4 … seconds after as many crashes in a row. One crash is heard of twice. */
  #ended(startedAt: number, client = this.#client): void {
    if (this.#isClosed || !client || this.#client !== client || this.#timer) {
      return;
    }
    this.#numCrashes = Date.now() - startedAt > STABLE_MS ? 0 : this.#numCrashes + 1;
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, this.#numCrashes - 1));
    this.#changed.fire({ state: 'stopped', detail: `the language server ended; it starts again in ${waitMs / 1000} s` });
    this.#timer = setTimeout(() => void this.start(), waitMs);
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const client = this.#client;
    this.#client = undefined;
    await client?.dispose().catch(() => undefined);
  }
}

/** Leaves suggestions to a provider of our own, which tells more (suggestions.ts), and makes no pop-ups of errors. */
class Client extends LanguageClient {
  // Also called by the constructor of the base class, before there are fields.
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    const isInline = 'registrationType' in feature && feature.registrationType.method === InlineCompletionRequest.method;
    super.registerFeature(isInline ? CAPABILITIES : feature);
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export type { Client };

const CAPABILITIES: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.textDocument = { ...capabilities.textDocument, inlineCompletion: {} };
    capabilities.experimental = { ...capabilities.experimental, lspComplete: { status: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};
