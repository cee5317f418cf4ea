// Types of sdktest.js. Times are in milliseconds.

import type { Call, State } from "../antiphon.js";

/** An event of the protocol. */
export interface Event {
  readonly type: string;
  readonly event_id?: string;
  readonly [field: string]: any;
}

/**
 * What an event must be like: its objects may have more members than this, its lists have exactly these elements, and a regular
 * expression stands for a text that it matches.
 */
export type Like = { readonly [field: string]: LikeValue };
export type LikeValue = string | number | boolean | null | RegExp | Like | readonly LikeValue[];

/** An expected event did not come. The message says what came instead. */
export class ExpectationError extends Error {
  readonly name: "ExpectationError";
}

/** What a response has to answer. */
export interface Asked {
  /** The user's last words. */
  readonly text: string;
  /** The tool outputs since then, in the order of the conversation. */
  readonly outputs: readonly { readonly callId: string; readonly output: string }[];
  /** The last item of the conversation. */
  readonly item: Event | null;
  /** The parameters of response.create. */
  readonly response: { readonly [field: string]: any };
  /** The session as it is now. */
  readonly session: { readonly [field: string]: any };
}

/** A text is the words of the answer. With null the server makes no response. */
export type Answer = string | null | undefined | AnswerParts;

export interface AnswerParts {
  text?: string;
  /** Left out: as the session says. */
  spoken?: boolean;
  /** Tool calls. */
  calls?: readonly { readonly name: string; readonly arguments?: object | string; readonly callId?: string }[];
  /** The response fails after its words. */
  failed?: { readonly code?: string; readonly message?: string };
  /** The response is not ended after its words: the test ends it, see Server.reply. */
  hold?: boolean;
}

export type Answering = Answer | ((asked: Asked) => Answer | Promise<Answer>);

export interface ServerOptions {
  /** The address that the page calls; only the origin matters. Left out: "http://antiphon.test". */
  url?: string;
  /** Merged into the session object of session.created. */
  session?: object;
  /** The answer of each response. Left out: "You said: …" with the user's words, or "Tool said: …". */
  answer?: Answering;
  /** The server does not know Antiphon's extensions. */
  plain?: boolean;
  /** The server makes no session by itself: call greet. */
  silent?: boolean;
  /** The server answers nothing by itself except antiphon.hello. */
  byHand?: boolean;
  /** The server refuses every call, with this status where the page can see one. */
  refuse?: number;
  /** The server waits for this promise before it accepts a call. */
  hold?: Promise<unknown> | null;
  /** The transcript of a turn that the page ends with commit(). Left out: "(speech)". */
  speech?: string;
  /** For "advance" in scripts. */
  clock?: Clock | null;
  /** The time limit for expected events. Left out: 5000. */
  within?: number;
}

export interface Faults {
  /** Each event comes so much later. */
  late?: number;
  /** Each event comes twice. */
  twice?: boolean;
  /** So many events at a time come in reverse order. */
  reversed?: number;
  /** An event that no client knows comes before each event. */
  strange?: boolean;
  /** No event comes. */
  silent?: boolean;
}

/** A call as it was placed. */
export interface Placed {
  readonly transport: "websocket" | "webrtc";
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export interface Waiting {
  /** The time limit. Left out: the server's within. */
  within?: number;
}

/**
 * A server without a network. It has one call at a time, the last one that was placed. The promise of a method that sends resolves when the
 * page has received the events. A test need not wait for it: all events come in the order in which they were sent.
 */
export class Server {
  constructor(options?: ServerOptions);

  /** Options that may be changed at any time. */
  answer: Answering;
  plain: boolean;
  silent: boolean;
  byHand: boolean;
  refuse: number;
  hold: Promise<unknown> | null;
  session: object;
  speech: string;
  /** The origin that the server answers for. */
  readonly url: string;
  /** The last 1000 calls that were placed. */
  readonly calls: readonly Placed[];
  readonly connected: boolean;
  /** The last response; null before the first of a call. */
  readonly reply: Reply | null;
  readonly microphone: Microphone;
  /** The volume at which the page plays the agent, from 0 to 1. */
  readonly level: number;
  /** The page holds playout until a candidate is confirmed or rejected. */
  readonly held: boolean;
  /** How many of the page's events were dropped. The server keeps up to 10,000 events, or 16 million characters, until the test takes them. */
  readonly dropped: number;

  /**
   * Makes the server reachable for pages: replaces WebSocket and fetch, which still reach other addresses. It installs a fake
   * RTCPeerConnection, audio context and microphone where the environment has none; with "all" it replaces existing ones, too. A call
   * over WebRTC needs the fake.
   */
  install(options?: { fakes?: "missing" | "all" }): this;
  /** Ends the call and restores what install has replaced. Waiting expectations fail. */
  close(): Promise<void>;

  /**
   * Takes the page's next event, which must be of this type and like this. It passes over the events that every call begins with
   * (antiphon.hello and session.update) unless the test expects them. The server does not keep audio (input_audio_buffer.append).
   */
  expect(type: string, like?: Like, options?: Waiting): Promise<Event>;
  /** Takes events until one is of this type and like this. */
  until(type: string, like?: Like, options?: Waiting): Promise<Event>;
  /** Takes the next event. */
  next(options?: Waiting): Promise<Event>;
  /** Takes all events that the test has not taken yet. */
  sent(): Event[];
  /** Waits until nothing is under way to the page, except late events. */
  settled(): Promise<void>;

  /** Sets the next responses, in this order; after them answer applies again. */
  will(...answers: Answering[]): this;
  /** Sends these events to the page. An event without an event_id gets one. */
  send(...events: Event[]): Promise<void>;
  /** Sends the page any text. */
  sendText(text: string): Promise<void>;
  /** Makes the session, for a server that is silent. */
  greet(): Promise<void>;
  /**
   * A turn of the user, from its onset to its transcript, with the id item. As the session says, it interrupts a live response and gets
   * an answer.
   */
  speak(item: string, words: string): Promise<void>;
  /** Begins a response. */
  begin(options?: { id?: string; written?: boolean }): Reply;
  /**
   * Plays the item that came last up to its first ms milliseconds; a word has 300. It works over a WebSocket with the fake audio: a
   * browser's own audio plays by itself.
   */
  heard(ms: number): Promise<void>;
  /**
   * Lets something happen to the call. "broken": the connection breaks, and the page reconnects; "ended": the server ends the call;
   * "unplugged": the microphone is unplugged; over WebRTC also "lost" and "restored", for the connection.
   */
  tell(what: "broken" | "ended" | "unplugged" | "lost" | "restored"): Promise<void>;
  /** Sends half of the event and breaks the connection. */
  cutOff(event: Event): Promise<void>;
  /** From now on events come with these faults. {} ends the faults. */
  misbehave(faults: Faults): Promise<void>;
  /**
   * Plays a script with one step a line. Empty lines and lines that begin with # are left out.
   *
   *     expect TYPE [JSON]   the page's next event is of this type and like this
   *     send JSON            the server sends this text, whether it is an event or not
   *     advance DURATION     the clock goes on, such as 1.5s
   *     tell WHAT            see tell
   */
  run(script: string): Promise<void>;
}

/** A response of the agent. */
export class Reply {
  private constructor();
  /** The protocol's ids. */
  readonly response: string;
  readonly item: string;
  readonly live: boolean;
  /** Makes the next words and their audio, 300 ms a word. */
  say(words: string): Promise<void>;
  /** Makes a tool call. */
  call(name: string, args?: object | string, callId?: string): Promise<void>;
  /** Ends the response; its audio may still be playing. */
  made(): Promise<void>;
  /** Its audio has been played to the end. */
  stopped(): Promise<void>;
  /** made and stopped. */
  end(): Promise<void>;
  fail(code?: string, message?: string): Promise<void>;
  cancel(reason?: "client_cancelled" | "turn_detected"): Promise<void>;
  /**
   * Begins a turn of the user, with the id item, when so much of the response was played. Left out: the played position, or over WebRTC
   * the end of all words so far.
   */
  interrupt(item: string, heardMs?: number): Promise<void>;
}

/** The microphone that the fake getUserMedia opens. */
export interface Microphone {
  /** The result of enumerateDevices. */
  devices: readonly { deviceId: string; kind: "audioinput" | "audiooutput"; label: string; groupId: string }[];
  /** The name of the DOMException that getUserMedia fails with, such as "NotAllowedError"; "" for none. */
  refuse: string;
  /** The number of open tracks. */
  readonly open: number;
  /** A track is open and not muted. */
  readonly live: boolean;
  /** A stream like those of getUserMedia, for the option mediaStream. */
  stream(): MediaStream;
  /** Gives the microphone samples at 24 kHz, from -1 to 1. */
  say(samples: Float32Array): void;
  /** Gives the microphone 600 ms of a quiet room and then ms milliseconds of speech. */
  voice(ms?: number): void;
  /** Gives the microphone ms milliseconds of a quiet room. */
  quiet(ms?: number): void;
  unplug(): void;
}

/**
 * Replaces setTimeout, setInterval and performance.now(). Its time stands still until advance is called. Install it before the call that
 * it is for.
 */
export class Clock {
  /** The time that performance.now() returns. */
  readonly now: number;
  /** The number of timers that have not rung. */
  readonly waiting: number;
  install(): this;
  /** Rings the timers that are due by then, each at its own time. The page's program may wait up to a millisecond longer than it says. */
  advance(ms: number): Promise<void>;
  /** Lets time run again, from the clock's time. */
  restore(): void;
}

/** Waits until holds(call) is true. It fails after within, or at once when the call has ended; the message says how the call is. */
export function awaitCall(call: Call, holds: (call: Call) => boolean, options?: { within?: number; what?: string }): Promise<Call>;

/** Waits until a call is in this state. */
export function awaitState(call: Call, state: State, options?: { within?: number }): Promise<Call>;
