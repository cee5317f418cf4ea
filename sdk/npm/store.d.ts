// The call of a page as a store: what @antiphon/react and @antiphon/vue have in common.
import type { AntiphonError, Call, Device, Entry, Levels, Options, Progress, Run, State } from "antiphon";

/** Everything that may be said of a call, but not of its content. */
export interface CallState {
  readonly state: State;
  readonly confirmed: State;
  readonly predicted: boolean;
  readonly interrupting: boolean;
  readonly progress: Progress;
  readonly soundBlocked: boolean;
  /** The last error. Of a call that has failed it stays until the next call. */
  readonly error: AntiphonError | null;
}

export interface Microphone {
  readonly muted: boolean;
  /** The browser may be asking the user for the microphone. */
  readonly asking: boolean;
  readonly textOnly: boolean;
  /** The device in use; "" for the system's default. */
  readonly id: string;
  readonly devices: readonly Device[];
  readonly error: AntiphonError | null;
}

/** The options of each call but those that the provider has its own properties for. */
export type CallOptions = Omit<Options, "url" | "muted">;

/** What a page does with a call. The functions are the same ones for the life of the provider. */
export interface CallActions {
  /** Begins a call, unless there is one, and returns it. Call it in the handler of a click. */
  start(options?: CallOptions): Call;
  /** Ends the call, and waits until everything that it held is free. */
  stop(): Promise<void>;
  send(text: string): void;
  sendImage(image: string, text?: string): void;
  interrupt(): void;
  startTalking(): void;
  stopTalking(): void;
  approveRun(run: string, question: string, approve?: boolean): void;
  replyRun(run: string, question: string, reply: string): void;
  cancelRun(run: string): void;
  /** Call it in the handler of a click while soundBlocked is true. */
  resumeSound(): void;
}

export interface MicrophoneActions {
  setMuted(muted: boolean): void;
  selectMicrophone(id: string): Promise<void>;
}

/** A JSON schema of type object. Its description tells the agent when to call the tool. */
export type ToolSchema = Readonly<Record<string, unknown>> & { readonly description?: string };
export type ToolFunction<Arguments = any> = (args: Arguments, context: { readonly signal: AbortSignal }) => unknown;

export interface Parts {
  state: CallState;
  microphone: Microphone;
  transcript: readonly Entry[];
  runs: readonly Run[];
}

export class CallStore implements CallActions, MicrophoneActions {
  constructor(connect: (options?: Options) => Call);
  options: Options;
  onMutedChange: ((muted: boolean) => void) | null;
  get<P extends keyof Parts>(part: P): Parts[P];
  subscribe(part: keyof Parts, changed: () => void): () => void;
  levels(): Levels;
  mute(muted: boolean): void;
  tool(name: string, schema: ToolSchema | undefined, latest: () => ToolFunction): () => void;
  start(options?: CallOptions): Call;
  stop(): Promise<void>;
  send(text: string): void;
  sendImage(image: string, text?: string): void;
  interrupt(): void;
  startTalking(): void;
  stopTalking(): void;
  approveRun(run: string, question: string, approve?: boolean): void;
  replyRun(run: string, question: string, reply: string): void;
  cancelRun(run: string): void;
  resumeSound(): void;
  setMuted(muted: boolean): void;
  selectMicrophone(id: string): Promise<void>;
}

/** The beginning of the words of an entry that the user has not heard yet, at most so many characters. */
export function coming(entry: Entry, most?: number): string;
