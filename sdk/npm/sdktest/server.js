// The class Server: a server without a network, for tests of pages.

import { answered, hello } from "./answers.js";
import { patience } from "./await.js";
import { Conversation, merge } from "./conversation.js";
import { Delivery } from "./delivery.js";
import { ExpectationError, Inbox, expect, until } from "./expect.js";
import { asked } from "./http.js";
import { install, uninstall } from "./install.js";
import { Reply } from "./reply.js";
import { run } from "./script.js";
import { microphone, speaker } from "./sound.js";

// kept limits the number of calls in Server.calls.
const kept = 1000;

const words = ({ text, outputs }) => (outputs.length ? `Tool said: ${outputs.map(({ output }) => output).join(" ")}` : `You said: ${text}`);

// Server answers pages that call its address: as a good server does, or as a test has set it.
export class Server {
  microphone = microphone;

  // The last calls that were placed, at most kept.
  calls = [];

  // The last response, or null.
  reply = null;

  #connection = null; // the connection of the last call, while it is open
  #inbox = new Inbox();
  #delivery = new Delivery();
  #will = [];
  #conversation = null;
  #count = { events: 0, replies: 0, turns: 0 };
  #closed = false;

  constructor({ url = "http://antiphon.test", session = {}, answer = words, plain = false, silent = false, byHand = false, refuse = 0, hold = null, clock = null, speech = "(speech)", within = patience } = {}) {
    Object.assign(this, { url: new URL(url).origin, session, answer, plain, silent, byHand, refuse, hold, clock, speech, within });
  }

  // install makes the server reachable for pages.
  install({ fakes = "missing" } = {}) {
    install(this, fakes);
    return this;
  }

  // close ends the call and restores what install has replaced.
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#inbox.close();
    this.#delivery.close();
    this.#connection?.end(true);
    microphone.reset();
    await this.#delivery.settled();
    uninstall(this);
  }

  // The number of events that were dropped because no test had taken them.
  get dropped() {
    return this.#inbox.dropped;
  }

  // The volume at which the page plays the agent, from 0 to 1.
  get level() {
    return speaker.level();
  }

  // Whether the page holds playout until a candidate is confirmed or rejected.
  get held() {
    return speaker.held();
  }

  // Whether there is a call.
  get connected() {
    return this.#connection !== null;
  }

  expect(type, like = {}, { within = this.within } = {}) {
    return expect(this.#inbox, type, like, within);
  }

  until(type, like = {}, { within = this.within } = {}) {
    return until(this.#inbox, type, like, within);
  }

  next({ within = this.within } = {}) {
    return this.#inbox.next(within, "an event");
  }

  sent() {
    return this.#inbox.all();
  }

  // will sets the next responses, in this order.
  will(...answers) {
    this.#will.push(...answers);
    return this;
  }

  misbehave(faults) {
    this.#delivery.misbehave(faults);
    return this.settled();
  }

  settled() {
    return this.#delivery.settled();
  }

  run(script) {
    return run(this, script);
  }

  // send sends these events to the page. An event without an event_id gets one.
  send(...events) {
    this.#called();
    for (const event of events) this.#to.tell(event);
    return this.settled();
  }

  sendText(text) {
    const connection = this.#called();
    this.#post(connection, text);
    return this.settled();
  }

  // cutOff sends half of an event, and breaks the connection.
  cutOff(event) {
    const connection = this.#called();
    const text = JSON.stringify(event);
    this.#post(connection, text.slice(0, text.length / 2));
    this.#delivery.then(() => connection.end(false));
    return this.settled();
  }

  tell(what) {
    const connection = this.#called();
    const happening = {
      broken: () => connection.end(false),
      ended: () => connection.end(true),
      lost: () => connection.become?.("disconnected"),
      restored: () => connection.become?.("connected"),
      unplugged: () => microphone.unplug(),
    };
    if (!Object.hasOwn(happening, what)) throw new Error(`nothing is called ${JSON.stringify(what)}: there are ${Object.keys(happening).join(", ")}`);
    if (/^(lost|restored)$/.test(what) && !connection.become) throw new Error(`a WebSocket is not ${what}: it is broken, or ended`);
    this.#delivery.then(happening[what]);
    return this.settled();
  }

  greet() {
    return this.send({ type: "session.created", session: this.#conversation?.session });
  }

  begin({ id, written } = {}) {
    this.#called();
    return this.#begin(id, written ?? this.#written({}));
  }

  speak(item, transcript) {
    this.#called();
    const { tell } = this.#to;
    const { turn_detection: turns } = this.#conversation.session.audio.input;
    if (this.#live && turns?.interrupt_response) this.#live.interrupt(item);
    else tell({ type: "input_audio_buffer.speech_started", item_id: item, audio_start_ms: 0 });
    tell({ type: "input_audio_buffer.speech_stopped", item_id: item, audio_end_ms: 1000 });
    this.#turn(item, transcript);
    if (!this.byHand && turns?.create_response) this.#answer({});
    return this.settled();
  }

  // heard plays the item that came last up to its first ms milliseconds.
  heard(ms) {
    const connection = this.#called();
    if (connection.transport !== "websocket") throw new Error("over WebRTC nothing is played here: give interrupt() what was heard");
    if (!speaker.here()) throw new Error('the browser plays the sound by itself: install({ fakes: "all" }) to say how far it was heard');
    this.#to.heard(ms);
    return this.settled();
  }

  // to is what Reply and answers.js use of the server. None of it fails after the call has ended.
  #to = ((server) => ({
    get conversation() {
      return server.#conversation;
    },
    get live() {
      return server.#live;
    },
    get last() {
      return server.reply;
    },
    // Whether audio travels on a track and not in events.
    get tracks() {
      return server.#connection?.transport === "webrtc";
    },
    tell: (event) => {
      const whole = { event_id: `event_${++this.#count.events}`, ...event };
      if (this.#connection) this.#post(this.#connection, JSON.stringify(whole), event.type === "response.output_audio.delta" ? event.item_id : undefined);
    },
    add: (item, type) => this.#to.tell({ type, ...this.#conversation.add(item) }),
    truncate: (id, ms) => {
      if (!this.#conversation.truncate(id, ms)) return false;
      this.#to.tell({ type: "conversation.item.truncated", item_id: id, content_index: 0, audio_end_ms: Math.round(ms) });
      return true;
    },
    heard: (ms) => this.#delivery.then(() => speaker.heard(ms)),
    settled: () => this.settled(),
    update: (patch) => (this.#conversation.session = merge(this.#conversation.session, patch)),
    turn: () => this.#turn(`item_turn_${++this.#count.turns}`, this.speech),
    answer: (params) => this.#answer(params),
    over: (reply) => reply === this.#live && (this.#live = null),
  }))(this);

  #live = null; // the response that is still being made

  #called() {
    if (this.#closed) throw new Error("the server was closed");
    if (!this.#connection) throw new ExpectationError(`nobody has called ${this.url}, or the call has ended: await call.ready first${this.calls.length ? "" : ", and install() before it"}`);
    return this.#connection;
  }

  #post(connection, text, item) {
    const strange = () => connection.deliver(JSON.stringify({ type: "sdktest.strange", event_id: `strange_${++this.#count.events}` }));
    const bring = () => {
      if (item) speaker.comes(item);
      connection.deliver(text);
    };
    this.#delivery.event(bring, strange);
  }

  #begin(id, written) {
    this.reply = this.#live = new Reply(this.#to, id ?? `resp_${++this.#count.replies}`, written);
    return this.reply;
  }

  #written(params) {
    return (params.output_modalities ?? this.#conversation.session.output_modalities).includes("text");
  }

  #turn(item, transcript) {
    const { tell } = this.#to;
    const spoken = { id: item, type: "message", role: "user", content: [{ type: "input_audio", transcript }] };
    const added = this.#conversation.add(spoken);
    tell({ type: "input_audio_buffer.committed", item_id: item, previous_item_id: added.previous_item_id });
    const unheard = { ...added, item: { ...added.item, content: [{ type: "input_audio", transcript: null }] } };
    tell({ type: "conversation.item.added", ...unheard });
    tell({ type: "conversation.item.done", ...unheard });
    tell({ type: "conversation.item.input_audio_transcription.completed", item_id: item, content_index: 0, transcript });
  }

  // answer makes the next response, once the test's function has returned it.
  async #answer(params) {
    const connection = this.#connection;
    const next = this.#will.length ? this.#will.shift() : this.answer;
    const asked = { ...this.#conversation.asked(), response: params, session: this.#conversation.session };
    const made = await (typeof next === "function" ? next(asked) : next);
    if (made === null || made === undefined || connection !== this.#connection || this.#closed) return;
    const { text = "", calls = [], failed, hold, spoken = !this.#written(params) } = typeof made === "string" ? { text: made } : made;
    const reply = this.#begin(undefined, !spoken);
    for (const word of text.match(/\s*\S+/g) ?? []) reply.say(word);
    for (const { name, arguments: given, callId } of calls) reply.call(name, given, callId);
    if (failed) reply.fail(failed.code, failed.message);
    else if (!hold) reply.end();
  }

  // The fakes of the network call the methods below.

  async placed(call) {
    this.calls = [...this.calls.slice(1 - kept), call];
    await this.hold;
    return !this.refuse && !this.#closed;
  }

  began(connection) {
    if (this.#closed) return connection.end(false);
    this.#connection = connection;
    this.#live = this.reply = null;
    this.#conversation = new Conversation({ ...(this.calls.at(-1)?.model ? { model: this.calls.at(-1).model } : {}), ...this.session });
    connection.take = (text) => this.#took(connection, text);
    connection.gone = () => connection === this.#connection && (this.#connection = this.#live = null);
    if (!this.silent) this.greet();
  }

  #took(connection, text) {
    if (connection !== this.#connection) return;
    let event;
    try {
      event = JSON.parse(text);
    } catch (error) {
      return this.#to.tell({ type: "error", error: { type: "invalid_request_error", code: "invalid_json", message: error.message } });
    }
    if (event.type !== "input_audio_buffer.append") this.#inbox.put(event, text.length);
    if (event.type === "antiphon.hello" && !this.plain) hello(this.#to, event);
    else if (!this.byHand) answered(this.#to, event);
  }

  asked(request) {
    return asked(this, request);
  }
}
