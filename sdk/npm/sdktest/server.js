import { answered, hello } from "./answers.js";
import { patience } from "./await.js";
import { Conversation, merge } from "./conversation.js";
import { ExpectationError, Inbox, expect, until } from "./expect.js";
import { asked } from "./http.js";
import { install, uninstall } from "./install.js";
import { Line } from "./line.js";
import { Reply } from "./reply.js";
import { run } from "./script.js";
import { microphone, speaker } from "./sound.js";

// kept bounds the calls that are known.
const kept = 1000;

const words = ({ text, outputs }) => (outputs.length ? `Tool said: ${outputs.map(({ output }) => output).join(" ")}` : `You said: ${text}`);

// Server is a server without a network, for pages that call its address. It answers as a good server does, or as a test tells it to.
export class Server {
  microphone = microphone;

  // The calls that were placed, the last ones.
  calls = [];

  // The last answer.
  reply = null;

  #link = null; // of the last call, while it is open
  #inbox = new Inbox();
  #line = new Line();
  #will = [];
  #conversation = null;
  #count = { events: 0, replies: 0, turns: 0 };
  #closed = false;

  constructor({ url = "http://antiphon.test", session = {}, answer = words, plain = false, silent = false, byHand = false, refuse = 0, hold = null, clock = null, speech = "(speech)", within = patience } = {}) {
    Object.assign(this, { url: new URL(url).origin, session, answer, plain, silent, byHand, refuse, hold, clock, speech, within });
  }

  // install has pages call it from now on.
  install({ fakes = "missing" } = {}) {
    install(this, fakes);
    return this;
  }

  // close ends the call and puts back what install has replaced.
  async close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#inbox.close();
    this.#line.close();
    this.#link?.end(true);
    microphone.reset();
    await this.#line.settled();
    uninstall(this);
  }

  // The events that nobody has expected, and that there was no room for.
  get dropped() {
    return this.#inbox.dropped;
  }

  // How loud the page lets the agent be, from 0 to 1.
  get level() {
    return speaker.level();
  }

  // Whether the page has stopped the playback until it is known whether somebody interrupts.
  get held() {
    return speaker.held();
  }

  // Whether there is a call.
  get connected() {
    return this.#link !== null;
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

  // will has the next responses be these, in this order.
  will(...answers) {
    this.#will.push(...answers);
    return this;
  }

  misbehave(faults) {
    this.#line.misbehave(faults);
    return this.settled();
  }

  settled() {
    return this.#line.settled();
  }

  run(script) {
    return run(this, script);
  }

  // send lets the page hear these events, under ids of their own where they have none.
  send(...events) {
    this.#called();
    for (const event of events) this.#to.tell(event);
    return this.settled();
  }

  sendText(text) {
    const link = this.#called();
    this.#post(link, text);
    return this.settled();
  }

  // cutOff sends half of an event, and breaks the connection.
  cutOff(event) {
    const link = this.#called();
    const text = JSON.stringify(event);
    this.#post(link, text.slice(0, text.length / 2));
    this.#line.then(() => link.end(false));
    return this.settled();
  }

  tell(what) {
    const link = this.#called();
    const happening = {
      broken: () => link.end(false),
      ended: () => link.end(true),
      lost: () => link.become?.("disconnected"),
      restored: () => link.become?.("connected"),
      unplugged: () => microphone.unplug(),
    };
    if (!Object.hasOwn(happening, what)) throw new Error(`nothing is called ${JSON.stringify(what)}: there are ${Object.keys(happening).join(", ")}`);
    if (/^(lost|restored)$/.test(what) && !link.become) throw new Error(`a WebSocket is not ${what}: it is broken, or ended`);
    this.#line.then(happening[what]);
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

  // heard plays up to so many milliseconds of the item that came last.
  heard(ms) {
    const link = this.#called();
    if (link.transport !== "websocket") throw new Error("over WebRTC nothing is played here: say what was heard to interrupt()");
    if (!speaker.here()) throw new Error('the browser plays the sound by itself: install({ fakes: "all" }) to say how far it was heard');
    this.#to.heard(ms);
    return this.settled();
  }

  // What replies and answers are sent with. Nothing of it fails when the call has ended meanwhile.
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
    // Whether the sound takes another way than the events.
    get tracks() {
      return server.#link?.transport === "webrtc";
    },
    tell: (event) => {
      const whole = { event_id: `event_${++this.#count.events}`, ...event };
      if (this.#link) this.#post(this.#link, JSON.stringify(whole), event.type === "response.output_audio.delta" ? event.item_id : undefined);
    },
    add: (item, type) => this.#to.tell({ type, ...this.#conversation.add(item) }),
    truncate: (id, ms) => {
      if (!this.#conversation.truncate(id, ms)) return false;
      this.#to.tell({ type: "conversation.item.truncated", item_id: id, content_index: 0, audio_end_ms: Math.round(ms) });
      return true;
    },
    heard: (ms) => this.#line.then(() => speaker.heard(ms)),
    settled: () => this.settled(),
    update: (patch) => (this.#conversation.session = merge(this.#conversation.session, patch)),
    turn: () => this.#turn(`item_turn_${++this.#count.turns}`, this.speech),
    answer: (params) => this.#answer(params),
    over: (reply) => reply === this.#live && (this.#live = null),
  }))(this);

  #live = null; // the reply that is being made

  #called() {
    if (this.#closed) throw new Error("the server was closed");
    if (!this.#link) throw new ExpectationError(`nobody has called ${this.url}, or the call has ended: await call.ready first${this.calls.length ? "" : ", and install() before it"}`);
    return this.#link;
  }

  #post(link, text, item) {
    const strange = () => link.deliver(JSON.stringify({ type: "sdktest.strange", event_id: `strange_${++this.#count.events}` }));
    const bring = () => {
      if (item) speaker.comes(item);
      link.deliver(text);
    };
    this.#line.event(bring, strange);
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

  // answer makes the next answer, whenever it comes.
  async #answer(params) {
    const link = this.#link;
    const next = this.#will.length ? this.#will.shift() : this.answer;
    const asked = { ...this.#conversation.asked(), response: params, session: this.#conversation.session };
    const made = await (typeof next === "function" ? next(asked) : next);
    if (made === null || made === undefined || link !== this.#link || this.#closed) return;
    const { text = "", calls = [], failed, hold, spoken = !this.#written(params) } = typeof made === "string" ? { text: made } : made;
    const reply = this.#begin(undefined, !spoken);
    for (const word of text.match(/\s*\S+/g) ?? []) reply.say(word);
    for (const { name, arguments: given, callId } of calls) reply.call(name, given, callId);
    if (failed) reply.fail(failed.code, failed.message);
    else if (!hold) reply.end();
  }

  // The rest is for what stands for the network.

  async placed(call) {
    this.calls = [...this.calls.slice(1 - kept), call];
    await this.hold;
    return !this.refuse && !this.#closed;
  }

  began(link) {
    if (this.#closed) return link.end(false);
    this.#link = link;
    this.#live = this.reply = null;
    this.#conversation = new Conversation({ ...(this.calls.at(-1)?.model ? { model: this.calls.at(-1).model } : {}), ...this.session });
    link.take = (text) => this.#took(link, text);
    link.gone = () => link === this.#link && (this.#link = this.#live = null);
    if (!this.silent) this.greet();
  }

  #took(link, text) {
    if (link !== this.#link) return;
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
