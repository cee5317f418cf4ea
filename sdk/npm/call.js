import { begin, drop } from "./begin.js";
import { AntiphonError, failure, read } from "./errors.js";
import { program } from "./program.js";

// patience is how long the program may take to arrive, in ms. After that its own limits hold.
const patience = 60_000;

const noTurn = { interruptions: {}, turn: null };

// Call is one call. Its fields say what is so now; its events say that they have changed.
export class Call extends EventTarget {
  state = "connecting";
  confirmed = "connecting";
  predicted = false;
  interrupting = false;
  transcript = [];
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
  #do = null; // the program's; null while there is none
  #program = null;
  #begun = null;
  #queue = []; // what the program has told
  #waiting = new Map(); // settle functions of what takes its time
  #running = new Map(); // abort controllers of the page's tools
  #token = 0;
  #closed = null; // the promise of close
  #settle;
  #late = 0;
  #crash = (error) => this.#fail(error);

  constructor(options, { assets, version }) {
    super();
    this.#options = { ...options, url: (options.url ?? "").replace(/\/+$/, ""), worklet: `${assets}antiphon-worklet.js` };
    this.muted = Boolean(options.muted);
    this.ready = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.ready.catch(() => {}); // the event tells it too
    this.#start(assets, version).catch((error) =>
      this.#fail(error instanceof AntiphonError ? error : failure("failed", `the call could not be placed: ${error.message}`, "call again, or reload the page", error)),
    );
  }

  async #start(assets, version) {
    await null; // whoever has called connect may listen first
    const socket = this.#options.transport === "websocket";
    if (!socket && typeof RTCPeerConnection !== "function") {
      throw failure("unsupported", "this browser has no WebRTC", "use a current Chrome, Edge, Firefox or Safari");
    }
    this.#begun = socket ? null : begin(this.#options);
    this.#late = setTimeout(() => this.#fail(failure("server_silent", "the page's voice program did not arrive in time", "check the network, and call again")), patience);
    this.#program = await program(assets, version);
    clearTimeout(this.#late);
    if (this.#closed) return;
    this.#program.crash.add(this.#crash);
    const tools = this.#options.tools?.map((tool) => ({ ...tool, parameters: tool.parameters && JSON.stringify(tool.parameters) }));
    const begun = this.#begun;
    this.#begun = null;
    const made = this.#program.connect({ ...this.#options, muted: this.muted, tools }, begun, this.#told);
    if (typeof made === "string") {
      if (begun) drop(begun);
      throw read(made);
    }
    this.#do = made;
  }

  // The program must not be entered again from here: what it tells is handled once it has returned.
  #told = (...told) => {
    if (this.#queue.push(told) === 1) queueMicrotask(() => this.#drain());
  };

  #drain() {
    const changed = new Set();
    const told = this.#queue;
    this.#queue = [];
    for (const [kind, ...args] of told) this.#handle(kind, args, changed);
    for (const type of changed) this.#emit(type, this[type === "levels" || type === "transcript" || type === "metrics" ? type : "state"]);
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
    Object.assign(this, rest);
    changed.add("state");
    if (this.interrupting !== before.interrupting) changed.add("interrupting");
    if (JSON.stringify(rest.metrics) !== metrics) changed.add("metrics");
    if (entries) {
      this.transcript = [...this.transcript.slice(gone, gone + from), ...entries];
      changed.add("transcript");
    }
    this.microphoneError = this.#noticed(this.microphoneError, microphoneError);
    this.error = this.#noticed(this.error, error);
    if (this.state === "failed") this.close();
  }

  // noticed tells of an error that is new.
  #noticed(old, told) {
    if (!told) return null;
    const now = read(JSON.stringify(told));
    if (old && old.code === now.code && old.message === now.message) return old;
    this.#emit("error", now);
    return now;
  }

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

  // fail ends a call that has no program, or none any more.
  #fail(error) {
    this.#settle.reject(error);
    if (this.#closed) return;
    const told = this.error;
    this.state = this.confirmed = "failed";
    this.error = error;
    if (!told || told.code !== error.code) this.#emit("error", error);
    this.#emit("state", this.state);
    this.close();
  }

  // now has the program do something at once.
  #now(...command) {
    if (!this.#do) throw failure("not_connected", "there is no call", "wait for ready");
    const error = this.#do(...command);
    if (error) throw read(error);
  }

  // later has it do something that takes its time.
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
    clearTimeout(this.#late);
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
