// The class Call: one call as the page sees it. It loads the program, gives it commands, and turns what the program reports into
// fields and events.

import { begin, drop } from "./begin.js";
import { AntiphonError, failure, read } from "./errors.js";
import { program } from "./program.js";

// patience is how long the key and the program may take to arrive, in ms. Once it is loaded, its own time limits apply.
const patience = 60_000;

const noTurn = { interruptions: {}, turn: null };

// kind names the type of a value, as the table of options does.
const volume = "number from 0 to 1";
const kind = (value) => (typeof value === "number" && value >= 0 && value <= 1 ? volume : typeof value);

// What some options may be: a type, or one of these words.
const options = {
  url: "string", model: "string", instructions: "string", voice: "string", language: "string", textReplies: "boolean", muted: "boolean", prediction: "boolean",
  speaker: "string", volume, transport: ["webrtc", "websocket"], "turnDetection.type": ["manual", "server", "semantic"], "turnDetection.eagerness": ["low", "medium", "high", "auto"],
  noiseReduction: ["near_field", "far_field"],
};

// check throws the error for the first option that cannot be used.
const check = (given) => {
  for (const [name, may] of Object.entries(options)) {
    const value = name.split(".").reduce((o, part) => o?.[part], given);
    if (value === undefined || value === null || (typeof may === "string" ? kind(value) === may : may.includes(value))) continue;
    throw failure("invalid", `the option ${name} is ${JSON.stringify(value)}`, typeof may === "string" ? `give a ${may}, or leave it out` : `give one of ${may.join(", ")}`);
  }
};

// Call is one call. Its fields hold the present state; its events report changes of them.
export class Call extends EventTarget {
  state = "connecting";
  confirmed = "connecting";
  predicted = false;
  interrupting = false;
  progress = "";
  transcript = [];
  runs = [];
  levels = { microphone: 0, agent: 0 };
  metrics = noTurn;
  devices = { microphones: [], speakers: [] };
  muted = false;
  textOnly = false;
  asking = false;
  soundBlocked = false;
  microphone = "";
  speaker = "";
  volume = 1;
  sessionId = "";
  model = "";
  machines = "unknown";
  error = null;
  microphoneError = null;

  #options;
  #do = null; // gives the program a command; null while there is no program
  #program = null;
  #begun = null;
  #queue = []; // what the program has reported and #drain has not handled
  #waiting = new Map(); // resolve and reject of the commands under way, by token
  #running = new Map(); // abort controllers of the running tool calls, by token
  #token = 0;
  #closed = null; // the promise that close returns
  #settle;
  #loadTimer = 0;
  #crash = (error) => this.#fail(error);

  constructor(options, files) {
    super();
    this.#options = { ...options, url: (options.url ?? "").replace(/\/+$/, "") };
    this.muted = Boolean(options.muted);
    this.ready = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.ready.catch(() => {}); // the error event reports it too
    this.#start(files).catch((error) =>
      this.#fail(error instanceof AntiphonError ? error : failure("failed", `the call could not be placed: ${error.message}`, "call again, or reload the page", error)),
    );
  }

  async #start(files) {
    await null; // the caller of connect may add its listeners first
    check(this.#options);
    this.#loadTimer = setTimeout(() => this.#fail(failure("server_silent", "the key or the page's voice program did not arrive in time", "check the network, and call again")), patience);
    this.#options.key = await (typeof this.#options.key === "function" ? this.#options.key() : this.#options.key);
    if (this.#closed) return;
    const socket = this.#options.transport === "websocket";
    if (!socket && typeof RTCPeerConnection !== "function") {
      throw failure("unsupported", "this browser has no WebRTC", "use a current Chrome, Edge, Firefox or Safari");
    }
    this.#begun = socket ? null : begin(this.#options);
    this.#program = await program(files);
    const worklet = await files.worklet();
    clearTimeout(this.#loadTimer);
    if (this.#closed) return;
    this.#program.crash.add(this.#crash);
    const tools = this.#options.tools?.map((tool) => ({ ...tool, parameters: tool.parameters && JSON.stringify(tool.parameters) }));
    const begun = this.#begun;
    this.#begun = null;
    const made = this.#program.connect({ ...this.#options, worklet, muted: this.muted, tools }, begun, this.#reported);
    if (typeof made === "string") {
      if (begun) drop(begun);
      throw read(made);
    }
    this.#do = made;
    if (kind(this.#options.volume) === volume) this.setVolume(this.#options.volume);
  }

  // The program calls this to report something. The page's listeners may call the program, which must not happen before it has
  // returned: so the report waits in a queue.
  #reported = (...report) => {
    if (this.#queue.push(report) === 1) queueMicrotask(() => this.#drain());
  };

  #drain() {
    const changed = new Set();
    const reports = this.#queue;
    this.#queue = [];
    for (const [kind, ...args] of reports) this.#handle(kind, args, changed);
    for (const type of changed) this.#emit(type, this[["levels", "transcript", "metrics", "runs"].includes(type) ? type : "state"]);
    this.#program.tidy();
  }

  #handle(kind, args, changed) {
    switch (kind) {
      case "snapshot":
        return this.#snapshot(JSON.parse(args[0]), changed);
      case "levels":
        this.levels = { microphone: args[0], agent: args[1] };
        return changed.add("levels");
      case "ready":
        return args[1] ? this.#fail(read(args[1])) : this.#settle.resolve(this);
      case "done": {
        const settle = this.#waiting.get(args[0]);
        this.#waiting.delete(args[0]);
        return args[1] ? settle.reject(read(args[1])) : settle.resolve();
      }
      case "tool":
        return this.#tool(...args);
      case "abort":
        return this.#running.get(args[0])?.abort();
      case "note":
        return this.#emit("note", args[0]);
    }
  }

  #snapshot({ entries, gone, from, error, microphoneError, ...rest }, changed) {
    const before = { state: this.state, confirmed: this.confirmed, interrupting: this.interrupting };
    const metrics = JSON.stringify(this.metrics);
    const { runs } = this;
    Object.assign(this, rest);
    changed.add("state");
    if (this.interrupting !== before.interrupting) changed.add("interrupting");
    if (JSON.stringify(rest.metrics) !== metrics) changed.add("metrics");
    if (rest.runs && (rest.runs.length || runs.length)) changed.add("runs");
    if (entries) {
      this.transcript = [...this.transcript.slice(gone, gone + from), ...entries];
      changed.add("transcript");
    }
    this.microphoneError = this.#noticed(this.microphoneError, microphoneError);
    this.error = this.#noticed(this.error, error);
    if (this.state === "failed") this.close();
  }

  // noticed returns the reported error as an AntiphonError, or null. It emits an event for an error that is not the old one.
  #noticed(old, reported) {
    if (!reported) return null;
    const now = read(JSON.stringify(reported));
    if (old && old.code === now.code && old.message === now.message) return old;
    this.#emit("error", now);
    return now;
  }

  // tool runs one of the page's tools and gives the program its output.
  async #tool(token, name, given) {
    const control = new AbortController();
    this.#running.set(token, control);
    let output, failed;
    try {
      output = await this.#options.tools.find((tool) => tool.name === name).run(given ? JSON.parse(given) : {}, { signal: control.signal });
      if (typeof output !== "string") output = JSON.stringify(output) ?? "null";
    } catch (error) {
      [output, failed] = [String(error?.message ?? error), true];
    }
    this.#running.delete(token);
    this.#do?.("tool", token, output, Boolean(failed));
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // fail ends a call that has no program yet, or whose program has stopped.
  #fail(error) {
    this.#settle.reject(error);
    if (this.#closed) return;
    const earlier = this.error;
    this.state = this.confirmed = "failed";
    this.error = error;
    if (!earlier || earlier.code !== error.code) this.#emit("error", error);
    this.#emit("state", this.state);
    this.close();
  }

  // now gives the program a command that it carries out at once. It throws the program's error.
  #now(...command) {
    if (!this.#do) throw failure("not_connected", "there is no call", "wait for ready");
    const error = this.#do(...command);
    if (error) throw read(error);
  }

  // later gives the program a command that takes time. The promise settles when the program reports its end.
  #later(name, argument = "") {
    if (!this.#do) return Promise.reject(failure("not_connected", "there is no call", "wait for ready"));
    const token = ++this.#token;
    return new Promise((resolve, reject) => {
      this.#waiting.set(token, { resolve, reject });
      this.#do(name, token, argument);
    });
  }

  send(text) {
    this.#now("send", String(text));
  }

  sendImage(image, text = "") {
    this.#now("image", String(image), String(text));
  }

  startTalking() {
    this.#now("talk");
  }

  stopTalking() {
    this.#do?.("talked");
  }

  interrupt() {
    this.#now("interrupt");
  }

  commit() {
    this.#now("commit");
  }

  // run and question are the ids of an entry of runs and of its question.
  approveRun(run, question, approve = true) {
    this.#now("approve", String(run), String(question), Boolean(approve));
  }

  replyRun(run, question, reply) {
    this.#now("reply", String(run), String(question), String(reply));
  }

  cancelRun(run) {
    this.#now("cancel", String(run));
  }

  mute(muted = true) {
    this.muted = Boolean(muted);
    this.#do?.("mute", this.muted);
  }

  setVolume(volume) {
    this.#now("volume", Number(volume));
  }

  setMicrophone(id) {
    return this.#later("microphone", id);
  }

  setSpeaker(id) {
    return this.#later("speaker", id);
  }

  refreshDevices() {
    return this.#later("devices");
  }

  // Call it from the handler of a click when soundBlocked is true.
  resumeSound() {
    this.#do?.("resume");
  }

  dismissError() {
    this.#do?.("dismiss");
  }

  inspect() {
    return this.#do ? JSON.parse(this.#do("inspect")) : { predicted: this.state, confirmed: this.confirmed, machines: [], last: [] };
  }

  close() {
    return (this.#closed ??= this.#end());
  }

  async #end() {
    clearTimeout(this.#loadTimer);
    if (this.#begun) drop(this.#begun);
    this.#begun = null;
    try {
      if (this.#do && !this.#program.ended) await this.#later("close");
    } finally {
      this.#do = null;
      this.#program?.crash.delete(this.#crash);
      for (const control of this.#running.values()) control.abort();
      for (const { reject } of this.#waiting.values()) reject(failure("closed", "the call was closed", ""));
      this.#waiting.clear();
      this.#settle.reject(this.error ?? failure("closed", "the call was closed", ""));
      if (this.state !== "failed") {
        this.state = this.confirmed = "disconnected";
        this.#emit("state", this.state);
      }
    }
  }
}
