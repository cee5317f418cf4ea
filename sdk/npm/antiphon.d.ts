// Types of antiphon.js. Times are in milliseconds unless their name says otherwise.

/** What a call is doing. From "reconnecting" it recovers by itself or becomes "failed". "failed" and "disconnected" are final. */
export type State =
  | "connecting"
  | "listening"
  | "user-speaking"
  | "thinking"
  | "agent-speaking"
  | "reconnecting"
  | "failed"
  | "disconnected";

/** "loading": the server loads the model. "thinking": the model thinks before it answers. */
export type Progress = "" | "loading" | "thinking";

/** The codes of the script's own errors. A server's error has the code of the protocol. */
export type ErrorCode =
  | "unsupported" // this browser or page cannot place calls
  | "wasm_blocked" // the page's Content-Security-Policy keeps WebAssembly from running
  | "wasm_unreachable" // antiphon.wasm was not loaded
  | "wasm_failed" // antiphon.wasm cannot be run here
  | "script_blocked" // one of the script's other files was not loaded
  | "crashed" // the program has stopped
  | "failed" // the browser did not place the call
  | "no_microphone"
  | "permission_denied" // for the microphone, also in the middle of a call
  | "microphone_busy"
  | "unavailable" // the browser cannot do what was asked
  | "unauthorized" // the key is wrong, or missing
  | "busy" // the server takes no more calls now
  | "refused"
  | "server_gone"
  | "server_silent"
  | "overrun"
  | "not_connected"
  | "reconnecting" // the client is reconnecting: try again when it has
  | "begun_anew" // the call could not be continued: a new conversation has begun, with the transcript of the old one
  | "closed"
  | "invalid"
  | (string & {});

/** The error of this script: every error that it throws or reports is one. */
export class AntiphonError extends Error {
  readonly name: "AntiphonError";
  readonly code: ErrorCode;
  /** What the user can do about it. May be empty. */
  readonly remedy: string;
}

/** A function of the page that the agent may call. */
export interface Tool<Arguments = any> {
  /** 1 to 64 characters: letters, digits, _ and -. */
  name: string;
  /** Tells the agent when to call the tool. */
  description?: string;
  /** A JSON schema of type object. Left out: no arguments. */
  parameters?: Readonly<Record<string, unknown>>;
  /**
   * Answers one tool call. It is called once for each call_id. A result that is not a string is sent as JSON; of an error the agent gets
   * the message. signal aborts when the call ends, or after 30 s, when the result is not used any more.
   */
  run(args: Arguments, context: { readonly signal: AbortSignal }): unknown;
}

/** What ends the user's turn. */
export interface TurnDetection {
  /** "manual": the page ends a turn with commit(). "server": silence ends it. "semantic": the recogniser judges from the words. */
  type: "manual" | "server" | "semantic";
  /** How soon a "semantic" turn ends. */
  eagerness?: "low" | "medium" | "high" | "auto";
  /** The user's speech does not interrupt the agent. */
  noInterrupt?: boolean;
}

export interface Options {
  /** The server's address, such as "https://voice.example". Left out: the page's own origin. */
  url?: string;
  /** A client secret that the page's own server has got, sent as a Bearer header. Never an API key. A function is called for each call, and may fetch a fresh one. */
  key?: string | (() => string | Promise<string>);
  model?: string;
  instructions?: string;
  voice?: string;
  /** A hint for the recogniser, such as "en". */
  language?: string;
  /** The agent answers in text, without audio. */
  textReplies?: boolean;
  tools?: readonly Tool[];
  turnDetection?: TurnDetection;
  /** What the server takes out of the user's sound: the noise at a headset, or that of a microphone in the room. Left out: nothing. */
  noiseReduction?: "near_field" | "far_field";
  /** The id of a device; false for a call without a microphone. Left out: the system's default. */
  microphone?: string | false;
  /** The id of a device. Left out: the system's default. */
  speaker?: string;
  /** How loud the agent is, from 0 to 1. Left out: 1. */
  volume?: number;
  /** Used as the microphone. The page owns its tracks: the call does not stop them. */
  mediaStream?: MediaStream;
  /** The call begins with a muted microphone. */
  muted?: boolean;
  /** false turns prediction off: the client does not duck the agent before the server has decided on a barge-in. */
  prediction?: boolean;
  /**
   * true: if the user goes on within a second after the end of a turn, both parts become one entry of the transcript with one answer. Tools are then called a
   * second later.
   */
  takeBack?: boolean;
  /** By how many decibels the agent is softer while the user may be interrupting it: 1 to 60. Left out: 20. */
  duckBy?: number;
  /** Plays the agent. Left out: an element that is not in the page. */
  audio?: HTMLAudioElement;
  /** STUN and TURN servers. Left out: those that the server names. */
  iceServers?: readonly RTCIceServer[];
  /** "websocket": for networks that block WebRTC. Left out: "webrtc". */
  transport?: "webrtc" | "websocket";
  /** The folder of antiphon.wasm and the other files. Left out: the one that antiphon.js was loaded from, or in a bundle the bundle itself. */
  assets?: string;
}

/** One entry of the transcript. The object never changes: a new one replaces it. */
export interface Entry {
  /** The protocol's item id. */
  readonly id: string;
  readonly role: "user" | "agent" | "tool";
  /** Of an interrupted answer, only the part that was played. */
  readonly text: string;
  /**
   * How much of the text the user has heard, in characters as JavaScript counts them, with the word that they hear now: `text.slice(0, heard)` was heard, the rest is
   * still to come. It moves with the voice, and goes back if the agent repeats itself. It is the whole text except for an answer that is being said, or was when the call ended.
   */
  readonly heard: number;
  readonly spoken: boolean;
  /** The entry may still change. */
  readonly live: boolean;
  readonly interrupted: boolean;
  /** How much of an interrupted spoken answer was played, in ms; -1 where it was not measured. */
  readonly heardMs: number;
  readonly failed: boolean;
  /** A remark to show beside the text. May be empty. */
  readonly note: string;
  /** The tool call of an entry with the role "tool"; otherwise null. */
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

/** Work in the background that the agent has begun. The object never changes: a new one replaces it. */
export interface Run {
  readonly id: string;
  readonly tool: string;
  readonly status: "queued" | "running" | "waiting_user" | "succeeded" | "failed" | "canceled" | (string & {});
  /** How far the work is. May be empty. */
  readonly progress: string;
  /** What the run asks the user; null unless it waits for the user. */
  readonly question: RunQuestion | null;
  /** How the run has ended; null until then. */
  readonly result: RunResult | null;
  /** What has happened, oldest first, the last 32 of it. */
  readonly timeline: readonly RunStep[];
}

export interface RunQuestion {
  readonly id: string;
  /** The user approves or declines. Otherwise the user replies with a text. */
  readonly approval: boolean;
  readonly prompt: string;
  /** What the user may reply; empty for any text, and for an approval. */
  readonly choices: readonly string[];
  /** This call has sent an answer, and the server has not said yet whether it counts. */
  readonly answered: boolean;
}

export interface RunResult {
  /** The text of the result; JSON if it is no text. Empty unless the run has succeeded. */
  readonly output: string;
  /** Why the run has not succeeded: a code and a text. */
  readonly code: string;
  readonly message: string;
}

export interface RunStep {
  /** The server's time, as RFC 3339. */
  readonly at: string;
  /** Such as "conversation.state.changed" or "run.progress". */
  readonly kind: string;
  /** The new state, the question, the user's reply, the progress or the name of the step; empty for other kinds. */
  readonly text: string;
}

/** 0 is silence (-60 dBFS or less), 1 is full scale, linear in decibels. */
export interface Levels {
  readonly microphone: number;
  readonly agent: number;
}

export interface Device {
  readonly id: string;
  /** Empty until the user has allowed a microphone. */
  readonly label: string;
}

export interface Devices {
  readonly microphones: readonly Device[];
  /** Empty where the browser cannot choose a loudspeaker. */
  readonly speakers: readonly Device[];
}

/** How well barge-ins were predicted since the call began. */
export interface Interruptions {
  /** How often the agent was ducked because the user seemed to interrupt. */
  readonly candidates: number;
  readonly confirmed: number;
  /** How many of the confirmed ones were predicted before the server's verdict came. */
  readonly ahead: number;
  readonly rejected: number;
  /** How many got no verdict in time. */
  readonly expired: number;
  /** How far confirmed predictions were ahead of the server's verdict: the median, and the last one. */
  readonly leadMs: number;
  readonly lastLeadMs: number;
  readonly mispredictedMs: number;
  readonly rollbackMs: number;
  readonly repeatedMs: number;
  readonly lostMs: number;
}

/** The times of one turn, counted from the end of the user's speech. null: it has not happened, or is not known. */
export interface TurnTimes {
  readonly itemId: string;
  readonly responseId: string;
  readonly firstText: number | null;
  readonly firstSound: number | null;
  readonly playbackEnd: number | null;
  /** The server's measurement, counted from the true end of speech. */
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

/** The states and last steps of the client's machines, as texts for people. */
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

/** The events of a call and the types of their detail. */
export interface CallEvents {
  /** Any of the call's fields may have changed. */
  state: CustomEvent<State>;
  transcript: CustomEvent<readonly Entry[]>;
  runs: CustomEvent<readonly Run[]>;
  /** About 20 times a second. */
  levels: CustomEvent<Levels>;
  metrics: CustomEvent<Metrics>;
  interrupting: CustomEvent<State>;
  error: CustomEvent<AntiphonError>;
  /** A line for a log. */
  note: CustomEvent<string>;
}

/** One call. Its fields hold the present state. */
export interface Call extends EventTarget {
  /** What the call is doing, as predicted: the confirmed state with the client's own unanswered inputs applied. */
  readonly state: State;
  /** What the call is doing according to the server. */
  readonly confirmed: State;
  /** state and confirmed differ. */
  readonly predicted: boolean;
  /** The user may be interrupting: the agent is ducked until the server has decided. */
  readonly interrupting: boolean;
  /** What the model does before its first word, while the state is "thinking"; empty if the server has not said. */
  readonly progress: Progress;
  readonly transcript: readonly Entry[];
  /** The work in the background that the agent has begun, the newest first, at most 32. */
  readonly runs: readonly Run[];
  readonly levels: Levels;
  readonly metrics: Metrics;
  readonly devices: Devices;
  readonly muted: boolean;
  /** The call has no microphone. */
  readonly textOnly: boolean;
  /** The browser may be asking the user for the microphone. */
  readonly asking: boolean;
  /** The browser plays nothing before a gesture of the user: call resumeSound() from the handler of a click. */
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
  /** The last error; null when there was none, or it was dismissed. */
  readonly error: AntiphonError | null;
  readonly microphoneError: AntiphonError | null;
  /** Resolves when the server has made the session; rejects with an AntiphonError when the call fails. */
  readonly ready: Promise<Call>;

  /** Sends a message and asks for an answer. Throws an AntiphonError. */
  send(text: string): void;
  /**
   * Sends the agent a picture: a data URL of a PNG or JPEG, of at most 200,000 characters. With text it also asks for an answer; without
   * text the agent has the picture for its next answer. Throws an AntiphonError.
   */
  sendImage(image: string, text?: string): void;
  /** Opens the microphone, for push-to-talk. With turnDetection "manual" this begins a turn. */
  startTalking(): void;
  /** Closes the microphone and ends that turn. */
  stopTalking(): void;
  /** Stops the agent. */
  interrupt(): void;
  /** Ends the user's turn, for turnDetection "manual". */
  commit(): void;
  /** Approves or declines what a run asks. A call with a key of a client secret may not: the refusal is the event "error". */
  approveRun(run: string, question: string, approve?: boolean): void;
  /** Answers a question of a run that is no approval. */
  replyRun(run: string, question: string, reply: string): void;
  cancelRun(run: string): void;
  /** Mutes the microphone (true, or no argument) or unmutes it (false). */
  mute(muted?: boolean): void;
  /** From 0 to 1. */
  setVolume(volume: number): void;
  setMicrophone(id: string): Promise<void>;
  setSpeaker(id: string): Promise<void>;
  refreshDevices(): Promise<void>;
  resumeSound(): void;
  dismissError(): void;
  inspect(): Inspection;
  /** Ends the call and waits until everything that it held is freed. It may be called at any time, and again. */
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

/** Begins a call and returns it at once: see ready and the events. Call it from the handler of a click, so that the browser lets it play. */
export function connect(options?: Options): Call;

/** Loads the program before the first call, so that the call begins sooner. Rejects with an AntiphonError. */
export function preload(options?: { assets?: string }): Promise<void>;

/** What all calls of the page hold; memory is in bytes. None of it grows from call to call. */
export function usage(): { readonly functions: number; readonly handles: number; readonly memory: number };

/** The version of this build's files. */
export const version: string;

/** <antiphon-talk> */
export interface AntiphonTalkElement extends HTMLElement {
  /** The present call, or the last one; null before the first. */
  readonly call: Call | null;
  /** An option of the next call. */
  tools: readonly Tool[];
  key: Options["key"];
  mediaStream: MediaStream | undefined;
  /** Begins a call, as the button does, and returns it; null where the element is disabled. */
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

/** With a script tag, all of this is in the one global name Antiphon. */
export as namespace Antiphon;
