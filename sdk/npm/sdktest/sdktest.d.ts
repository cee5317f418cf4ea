// Types of sdktest.js. Times are in milliseconds.

import type { Call, State } from "../antiphon.js";

/** An event of the protocol. */
export interface Event {
  readonly type: string;
  readonly event_id?: string;
  readonly [field: string]: any;
}

/**
 * A part of an event: objects may have more than is named here, lists have exactly these elements, and a text may be named by a
 * regular expression.
 */
export type Like = { readonly [field: string]: LikeValue };
export type LikeValue = string | number | boolean | null | RegExp | Like | readonly LikeValue[];

/** What was expected and did not come. Its message says what came instead. */
export class ExpectationError extends Error {
  readonly name: "ExpectationError";
}

/** What a response is to answer. */
export interface Asked {
  /** The person's last words. */
  readonly text: string;
  /** What the page's functions gave since, in the order of the conversation. */
  readonly outputs: readonly { readonly callId: string; readonly output: string }[];
  /** The last item of the conversation. */
  readonly item: Event | null;
  /** The parameters of response.create. */
  readonly response: { readonly [field: string]: any };
  /** The session as it is now. */
  readonly session: { readonly [field: string]: any };
}

/** A text is its own answer; null never comes. */
export type Answer = string | null | undefined | AnswerParts;

export interface AnswerParts {
  text?: string;
  /** Left out: as the session says. */
  spoken?: boolean;
  /** Calls of the page's functions. */
  calls?: readonly { readonly name: string; readonly arguments?: object | string; readonly callId?: string }[];
  /** It fails behind what it has said. */
  failed?: { readonly code?: string; readonly message?: string };
  /** It is said, but not ended: see Server.reply. */
  hold?: boolean;
}

export type Answering = Answer | ((asked: Asked) => Answer | Promise<Answer>);

export interface ServerOptions {
  /** The address that the page calls: its origin counts. Left out: "http://antiphon.test". */
  url?: string;
  /** Put over what session.created says. */
  session?: object;
  /** What a response is. Left out: "You said: …" with the person's words, or "Tool said: …". */
  answer?: Answering;
  /** A server that knows nothing of Antiphon's extensions. */
  plain?: boolean;
  /** Makes no session by itself: greet does. */
  silent?: boolean;
  /** Answers nothing by itself but antiphon.hello. */
  byHand?: boolean;
  /** Refuses every call, with this status where the page can see one. */
  refuse?: number;
  /** Is waited for before a call is taken. */
  hold?: Promise<unknown> | null;
  /** The words of a turn that the page ends by hand. Left out: "(speech)". */
  speech?: string;
  /** For "advance" in scripts. */
  clock?: Clock | null;
  /** How long is waited for what is expected. Left out: 5000. */
  within?: number;
}

export interface Faults {
  /** Events come so much later. */
  late?: number;
  /** Every event comes twice. */
  twice?: boolean;
  /** So many events at a time come in the wrong order. */
  reversed?: number;
  /** An event that no client knows comes before each. */
  strange?: boolean;
  /** No event comes any more. */
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
  /** How long. Left out: the server's within. */
  within?: number;
}

/**
 * A server without a network. It has one call at a time, the last one that was placed. What sends something resolves when the page has had
 * it, and need not be waited for: all of it comes in the order in which it was sent.
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
  /** The origin that it answers for. */
  readonly url: string;
  /** The last 1000 calls that were placed. */
  readonly calls: readonly Placed[];
  readonly connected: boolean;
  /** The last answer; null before the first of a call. */
  readonly reply: Reply | null;
  readonly microphone: Microphone;
  /** How loud the page lets the agent be, from 0 to 1. */
  readonly level: number;
  /** The page has stopped the playback until it is known whether somebody interrupts. */
  readonly held: boolean;
  /** How many of the page's events were dropped: 10,000, or 16 million characters of them, are kept until they are expected. */
  readonly dropped: number;

  /**
   * Has pages call it from now on: WebSocket and fetch are replaced, which hand on what is for other addresses. Where the environment
   * has no RTCPeerConnection, audio context or microphone there are fakes of them; with "all" they take the place of those that there
   * are, too. A call over WebRTC needs the fake.
   */
  install(options?: { fakes?: "missing" | "all" }): this;
  /** Ends the call, and puts back what install has replaced. Waiting expectations fail. */
  close(): Promise<void>;

  /**
   * Takes the page's next event, which must be of this type and have these parts. What every call begins with (antiphon.hello and
   * session.update) is passed over unless it is what is expected. Sound (input_audio_buffer.append) is not kept.
   */
  expect(type: string, like?: Like, options?: Waiting): Promise<Event>;
  /** Takes events until one is of this type and has these parts. */
  until(type: string, like?: Like, options?: Waiting): Promise<Event>;
  /** Takes the next event. */
  next(options?: Waiting): Promise<Event>;
  /** Takes all events that nobody has expected yet. */
  sent(): Event[];
  /** Waits until nothing is under way to the page, but for what comes late. */
  settled(): Promise<void>;

  /** The next responses, in this order; after them answer holds again. */
  will(...answers: Answering[]): this;
  /** Lets the page hear these events, under ids of their own where they have none. */
  send(...events: Event[]): Promise<void>;
  /** Lets the page hear any text. */
  sendText(text: string): Promise<void>;
  /** Makes the session, for a server that is silent. */
  greet(): Promise<void>;
  /**
   * A turn of the person's, from its onset to its words. item names it. It interrupts an answer that is being made, and is answered, as
   * the session says.
   */
  speak(item: string, words: string): Promise<void>;
  /** Begins to answer. */
  begin(options?: { id?: string; written?: boolean }): Reply;
  /**
   * Plays up to so many milliseconds of the item that came last, 300 a word. Over a WebSocket with the faked sound: a browser's own plays
   * by itself.
   */
  heard(ms: number): Promise<void>;
  /**
   * What happens to the call. "broken": the connection, which the page brings back; "ended": by the server; "unplugged": the microphone;
   * over WebRTC also "lost" and "restored".
   */
  tell(what: "broken" | "ended" | "unplugged" | "lost" | "restored"): Promise<void>;
  /** Half of an event comes, and the connection breaks. */
  cutOff(event: Event): Promise<void>;
  /** From now on events come as they do from a bad server. {} is a good one again. */
  misbehave(faults: Faults): Promise<void>;
  /**
   * Plays a script, one step a line; empty lines and those that begin with # are left out.
   *
   *     expect TYPE [JSON]   the next event of the page's is of this type, and has these parts
   *     send JSON            the server sends this text, whether it is an event or not
   *     advance DURATION     the clock goes on, such as 1.5s
   *     tell WHAT            see tell
   */
  run(script: string): Promise<void>;
}

/** An answer of the agent's that is being made. */
export class Reply {
  private constructor();
  /** The protocol's ids. */
  readonly response: string;
  readonly item: string;
  readonly live: boolean;
  /** Makes the next words, and their sound: 300 ms a word. */
  say(words: string): Promise<void>;
  /** Calls one of the page's functions. */
  call(name: string, args?: object | string, callId?: string): Promise<void>;
  /** Ends the making; it may be heard still. */
  made(): Promise<void>;
  /** It was heard to its end. */
  stopped(): Promise<void>;
  /** Both. */
  end(): Promise<void>;
  fail(code?: string, message?: string): Promise<void>;
  cancel(reason?: "client_cancelled" | "turn_detected"): Promise<void>;
  /**
   * Somebody's turn, which item names, begins when so much of the answer was heard. Left out: what was played, or over WebRTC all that was
   * said.
   */
  interrupt(item: string, heardMs?: number): Promise<void>;
}

/** What the faked getUserMedia opens. */
export interface Microphone {
  /** What enumerateDevices tells. */
  devices: readonly { deviceId: string; kind: "audioinput" | "audiooutput"; label: string; groupId: string }[];
  /** The name of the DOMException that getUserMedia fails with, such as "NotAllowedError"; "" for none. */
  refuse: string;
  /** How many are open. */
  readonly open: number;
  /** One is open and not muted. */
  readonly live: boolean;
  /** A stream like the ones it opens, for the option mediaStream. */
  stream(): MediaStream;
  /** Lets it hear samples at 24 kHz, from -1 to 1. */
  say(samples: Float32Array): void;
  /** Lets it hear 600 ms of a quiet room, and then somebody's voice. */
  voice(ms?: number): void;
  /** Lets it hear a quiet room. */
  quiet(ms?: number): void;
  unplug(): void;
}

/**
 * Takes the place of setTimeout, setInterval and performance.now(), and stands still until it is turned. Install it before the call that
 * it is for.
 */
export class Clock {
  /** As performance.now() tells it. */
  readonly now: number;
  /** How many functions wait for their time. */
  readonly waiting: number;
  install(): this;
  /** Calls what is due by then, one after another and at its own time. The page's program waits up to a millisecond longer than it says. */
  advance(ms: number): Promise<void>;
  /** Lets time run again, from where the clock is. */
  restore(): void;
}

/** Waits until a call is as holds says. Fails after so long, or at once when the call has ended; the message says how the call is. */
export function awaitCall(call: Call, holds: (call: Call) => boolean, options?: { within?: number; what?: string }): Promise<Call>;

/** Waits until a call is in this state. */
export function awaitState(call: Call, state: State, options?: { within?: number }): Promise<Call>;
