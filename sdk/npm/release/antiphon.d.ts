// Types of antiphon.js. Times are in milliseconds unless their name says otherwise.

/** What a call is doing. "reconnecting" comes back by itself or becomes "failed"; "failed" and "disconnected" are for good. */
export type State =
  | "connecting"
  | "listening"
  | "user-speaking"
  | "thinking"
  | "agent-speaking"
  | "reconnecting"
  | "failed"
  | "disconnected";

/** The codes of the script's own errors; a server's error has the protocol's code. */
export type ErrorCode =
  | "unsupported" // this browser or page cannot place calls
  | "wasm_blocked" // the page's Content-Security-Policy keeps WebAssembly from running
  | "wasm_unreachable" // antiphon.wasm was not loaded
  | "wasm_failed" // antiphon.wasm cannot be run here
  | "script_blocked" // one of the script's other files was not loaded
  | "crashed" // the program has stopped
  | "failed" // the browser did not place the call
  | "no_microphone"
  | "permission_denied" // of the microphone, also in the middle of a call
  | "microphone_busy"
  | "unavailable" // the browser cannot do what was asked
  | "unauthorized" // the key is wrong, or missing
  | "busy" // the server takes no more calls now
  | "refused"
  | "server_gone"
  | "server_silent"
  | "overrun"
  | "not_connected"
  | "reconnecting" // the link is being brought back: do it again when it is
  | "begun_anew" // the conversation could not be resumed: a new one has begun with its words
  | "closed"
  | "invalid"
  | (string & {});

/** Everything that goes wrong is one of these. */
export class AntiphonError extends Error {
  readonly name: "AntiphonError";
  readonly code: ErrorCode;
  /** What a person can do about it. May be empty. */
  readonly remedy: string;
}

/** A function of the page that the agent may call. */
export interface Tool<Arguments = any> {
  /** 1 to 64 of letters, digits, _ and -. */
  name: string;
  /** Tells the agent when to call it. */
  description?: string;
  /** A JSON schema of type object. Left out: no arguments. */
  parameters?: Readonly<Record<string, unknown>>;
  /**
   * Answers one call, once for each call id. What is no string is sent as JSON. An error is told to the agent in its words.
   * signal aborts when the call is over or the answer is not waited for any longer (30 s).
   */
  run(args: Arguments, context: { readonly signal: AbortSignal }): unknown;
}

/** When the person's turn ends. */
export interface TurnDetection {
  /** "manual": the page ends turns with commit(). "server": a pause does. "semantic": the words do. */
  type: "manual" | "server" | "semantic";
  /** For "semantic". */
  eagerness?: "low" | "medium" | "high" | "auto";
  /** The person's voice does not interrupt the agent. */
  noInterrupt?: boolean;
}

export interface Options {
  /** The server's address, such as "https://voice.example". Left out: the page's own origin. */
  url?: string;
  /** Sent as a Bearer header: a client secret that the page's own server has asked for. Never an API key. */
  key?: string;
  model?: string;
  instructions?: string;
  voice?: string;
  /** A hint for the recogniser, such as "en". */
  language?: string;
  /** Answers are written, not spoken. */
  textReplies?: boolean;
  tools?: readonly Tool[];
  turnDetection?: TurnDetection;
  /** The id of a device; false for a call without a microphone. Left out: the system's default. */
  microphone?: string | false;
  /** The id of a device. Left out: the system's default. */
  speaker?: string;
  /** Used as the microphone. Its tracks are the page's: they are not stopped. */
  mediaStream?: MediaStream;
  /** Begins with a closed microphone. */
  muted?: boolean;
  /** false leaves everything to the server: the agent is not lowered before it has decided. */
  prediction?: boolean;
  /** Plays the agent. Left out: an element that is not in the page. */
  audio?: HTMLAudioElement;
  iceServers?: readonly RTCIceServer[];
  /** "websocket": for networks that let no WebRTC through. Left out: "webrtc". */
  transport?: "webrtc" | "websocket";
  /** The folder of antiphon.wasm and the other files. Left out: the one that antiphon.js was loaded from. */
  assets?: string;
}

/** One line of the transcript. It never changes: a new one takes its place. */
export interface Entry {
  /** The protocol's item id. */
  readonly id: string;
  readonly role: "user" | "agent" | "tool";
  /** Of an interrupted reply it is what was heard. */
  readonly text: string;
  readonly spoken: boolean;
  /** It may still change. */
  readonly live: boolean;
  readonly interrupted: boolean;
  /** How much of an interrupted spoken reply was heard; -1 where nobody has measured it. */
  readonly heardMs: number;
  readonly failed: boolean;
  /** A remark to show beside the text. May be empty. */
  readonly note: string;
  /** Of a "tool". */
  readonly call: ToolCall | null;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
  readonly output: string;
  readonly done: boolean;
  readonly failed: boolean;
}

/** 0 is silence (-60 dBFS or less), 1 is full scale, linear in decibels. */
export interface Levels {
  readonly microphone: number;
  readonly agent: number;
}

export interface Device {
  readonly id: string;
  /** Empty until the person has allowed a microphone. */
  readonly label: string;
}

export interface Devices {
  readonly microphones: readonly Device[];
  /** Empty where the browser cannot choose one. */
  readonly speakers: readonly Device[];
}

/** How well interruptions were predicted, since the call began. */
export interface Interruptions {
  /** Times that the agent was lowered because somebody seemed to interrupt. */
  readonly candidates: number;
  readonly confirmed: number;
  /** Of those confirmed: predicted before the server's word came. */
  readonly ahead: number;
  readonly rejected: number;
  /** No verdict came in time. */
  readonly expired: number;
  /** How far the predictions that came true were ahead: the median, and the last. */
  readonly leadMs: number;
  readonly lastLeadMs: number;
  readonly mispredictedMs: number;
  readonly rollbackMs: number;
  readonly repeatedMs: number;
  readonly lostMs: number;
}

/** The times of one turn, from the end of the person's speech. null: it has not happened, or is not known. */
export interface TurnTimes {
  readonly itemId: string;
  readonly responseId: string;
  readonly firstText: number | null;
  readonly firstSound: number | null;
  readonly playbackEnd: number | null;
  /** The server's own measurement, from the true end of speech. */
  readonly server: {
    readonly speechStopped: number | null;
    readonly commit: number | null;
    readonly transcript: number | null;
    readonly firstToken: number | null;
    readonly firstAudio: number | null;
    readonly firstPacket: number | null;
    readonly playbackEnd: number | null;
  } | null;
}

export interface Metrics {
  readonly interruptions: Interruptions;
  readonly turn: TurnTimes | null;
}

/** What goes on inside, for reading. */
export interface Inspection {
  readonly predicted: string;
  readonly confirmed: string;
  readonly machines: readonly { readonly name: string; readonly state: string }[];
  readonly last: readonly {
    readonly at: number;
    readonly lane: "client" | "server";
    readonly machine: string;
    readonly from: string;
    readonly event: string;
    readonly action: string;
    readonly to: string;
  }[];
}

/** The events of a call and what their detail is. */
export interface CallEvents {
  /** Any of the call's fields may have changed. */
  state: CustomEvent<State>;
  transcript: CustomEvent<readonly Entry[]>;
  /** Some 20 times a second. */
  levels: CustomEvent<Levels>;
  metrics: CustomEvent<Metrics>;
  interrupting: CustomEvent<State>;
  error: CustomEvent<AntiphonError>;
  /** A line for a log. */
  note: CustomEvent<string>;
}

/** One call. Its fields say what is so now. */
export interface Call extends EventTarget {
  /** What the call is doing, as the page believes: what the server has said, and what it will say to what was done here. */
  readonly state: State;
  /** What the server has said. */
  readonly confirmed: State;
  /** state and confirmed differ. */
  readonly predicted: boolean;
  /** Somebody may be interrupting the agent, which is lowered until the server has decided. */
  readonly interrupting: boolean;
  readonly transcript: readonly Entry[];
  readonly levels: Levels;
  readonly metrics: Metrics;
  readonly devices: Devices;
  readonly muted: boolean;
  /** There is no microphone in the call. */
  readonly textOnly: boolean;
  /** The person may be looking at the browser's question for the microphone. */
  readonly asking: boolean;
  /** The browser wants a gesture before it plays: call resumeSound() from a click's handler. */
  readonly soundBlocked: boolean;
  /** The ids of the devices in use. */
  readonly microphone: string;
  readonly speaker: string;
  /** From 0 to 1. */
  readonly volume: number;
  readonly sessionId: string;
  readonly model: string;
  /** Whether the server runs the same state machines as this page. */
  readonly machines: "unknown" | "same" | "differ";
  /** What went wrong last; null when nothing did. */
  readonly error: AntiphonError | null;
  readonly microphoneError: AntiphonError | null;
  /** Resolves when the server has made its session; rejects with the AntiphonError that the call failed with. */
  readonly ready: Promise<Call>;

  /** Sends a message and asks for an answer. Throws an AntiphonError. */
  send(text: string): void;
  /**
   * Shows the agent a picture: a data URL of a PNG or JPEG, of at most 200,000 characters. With text it asks for an answer; without, the
   * agent has it for what comes next. Throws an AntiphonError.
   */
  sendImage(image: string, text?: string): void;
  /** Opens the microphone, as a key that is held down does; with turnDetection "manual" that begins a turn. */
  startTalking(): void;
  /** Closes it, and ends that turn. */
  stopTalking(): void;
  /** Stops the agent. */
  interrupt(): void;
  /** Ends the person's turn, for turnDetection "manual". */
  commit(): void;
  /** Closes (true, or nothing) or opens the microphone. */
  mute(muted?: boolean): void;
  /** From 0 to 1. */
  setVolume(volume: number): void;
  setMicrophone(id: string): Promise<void>;
  setSpeaker(id: string): Promise<void>;
  refreshDevices(): Promise<void>;
  resumeSound(): void;
  dismissError(): void;
  inspect(): Inspection;
  /** Ends the call and waits until everything that it held is freed. May be called at any time, and twice. */
  close(): Promise<void>;

  addEventListener<K extends keyof CallEvents>(
    type: K,
    listener: (this: Call, event: CallEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof CallEvents>(
    type: K,
    listener: (this: Call, event: CallEvents[K]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
}

export const Call: { readonly prototype: Call };

/** Begins a call and does not wait: see ready and the events. Call it from the handler of a click, so that the browser lets it play. */
export function connect(options?: Options): Call;

/** Has the program there before the first call, so that it begins sooner. Rejects with an AntiphonError. */
export function preload(options?: { assets?: string }): Promise<void>;

/** What all calls of the page hold: none of it grows from call to call. */
export function usage(): { readonly functions: number; readonly handles: number; readonly memory: number };

/** Names the files of this build. */
export const version: string;

/** <antiphon-talk> */
export interface AntiphonTalkElement extends HTMLElement {
  /** The call that is on, or the last one; null before the first. */
  readonly call: Call | null;
  /** Given to the next call. */
  tools: readonly Tool[];
  mediaStream: MediaStream | undefined;
  /** Begins a call, as the button does, and gives it; null where the element is disabled. */
  start(): Promise<Call | null>;
  stop(): Promise<void>;
  addEventListener<K extends keyof CallEvents>(
    type: K,
    listener: (this: AntiphonTalkElement, event: CallEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (this: HTMLElement, event: HTMLElementEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "antiphon-talk": AntiphonTalkElement;
  }
}

/** With a script tag all of this is in the one global name Antiphon. */
export as namespace Antiphon;
