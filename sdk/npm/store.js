// One call at a time as a store, for frameworks: @antiphon/react and @antiphon/vue. Each part of the store has its own subscribers, and a
// part that has not changed keeps its value. It imports nothing, so that a server may import it.

const none = Object.freeze([]);
const silent = Object.freeze({ microphone: 0, agent: 0 });
const noDevices = Object.freeze({ microphones: none, speakers: none });

// The parts of a call that a page shows, and how each is read.
const parts = {
  state: ({ state, confirmed, predicted, interrupting, progress, soundBlocked, error }) => ({ state, confirmed, predicted, interrupting, progress, soundBlocked, error }),
  microphone: ({ muted, asking, textOnly, microphone, devices, microphoneError }) => ({ muted, asking, textOnly, id: microphone, devices: devices.microphones, error: microphoneError }),
  transcript: ({ transcript }) => transcript,
  runs: ({ runs }) => runs,
};

// What a store shows without a call.
const idle = {
  state: "disconnected", confirmed: "disconnected", predicted: false, interrupting: false, progress: "", soundBlocked: false, error: null,
  muted: false, asking: false, textOnly: false, microphone: "", devices: noDevices, microphoneError: null, transcript: none, runs: none,
};
const over = (state) => state === "disconnected" || state === "failed";

const same = (a, b) => {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) return a.length === 0 && b.length === 0;
  return Object.keys(a).every((name) => a[name] === b[name]);
};

// CallStore holds at most one call. connect is that of the package antiphon.
export class CallStore {
  options = {}; // of the next call
  onMutedChange = null; // gets the wish of the user where the application keeps muted itself

  #connect;
  #call = null;
  #left = idle; // what is shown without a call
  #muted = false;
  #tools = new Map(); // functions by name, the newest last
  #parts = {};
  #subscribers = { state: new Set(), microphone: new Set(), transcript: new Set(), runs: new Set() };

  constructor(connect) {
    this.#connect = connect;
    this.#update();
  }

  // The value of a part: the same object until it changes.
  get = (part) => this.#parts[part];

  // subscribe calls changed after each change of a part, and returns a function that ends that.
  subscribe = (part, changed) => {
    this.#subscribers[part].add(changed);
    return () => this.#subscribers[part].delete(changed);
  };

  // levels returns the present levels. They change too often to be a part.
  levels = () => this.#call?.levels ?? silent;

  // start begins a call, unless there is one, and returns it. Call it in the handler of a click.
  start = (options) => {
    if (this.#call) return this.#call;
    const settings = { ...this.options, ...options };
    const call = this.#connect({ ...settings, muted: this.#muted, tools: [...(settings.tools ?? []), ...[...this.#tools.keys()].map((name) => this.#tool(name))] });
    this.#call = call;
    const changed = () => this.#changed(call);
    for (const type of ["state", "transcript", "runs", "error"]) call.addEventListener(type, changed);
    this.#update();
    return call;
  };

  stop = async () => {
    await this.#call?.close();
  };

  // The actions of a call. Those that need one throw an AntiphonError without.
  send = (text) => this.#now().send(text);
  sendImage = (image, text) => this.#now().sendImage(image, text);
  interrupt = () => this.#call?.interrupt();
  startTalking = () => this.#now().startTalking();
  stopTalking = () => this.#call?.stopTalking();
  approveRun = (run, question, approve) => this.#now().approveRun(run, question, approve);
  replyRun = (run, question, reply) => this.#now().replyRun(run, question, reply);
  cancelRun = (run) => this.#now().cancelRun(run);
  selectMicrophone = async (id) => {
    if (this.#call) await this.#call.setMicrophone(id);
    else this.options = { ...this.options, microphone: id };
  };
  resumeSound = () => this.#call?.resumeSound();

  // setMuted does what the user wants: by the application where it keeps muted itself.
  setMuted = (muted) => (this.onMutedChange ? this.onMutedChange(muted) : this.mute(muted));

  // mute closes or opens the microphone, now and for later calls.
  mute = (muted) => {
    this.#muted = Boolean(muted);
    this.#call?.mute(this.#muted);
    this.#update();
  };

  // tool offers a function to the agent from the next call on, and returns a function that takes it back. latest returns the function to run.
  tool = (name, schema, latest) => {
    const tool = { schema, latest };
    this.#tools.set(name, tool);
    return () => this.#tools.get(name) === tool && this.#tools.delete(name);
  };

  #tool(name) {
    const { description, ...parameters } = this.#tools.get(name).schema ?? {};
    const run = (given, context) => {
      const tool = this.#tools.get(name);
      if (!tool) throw new Error(`the page has no tool ${name} any more`);
      return tool.latest()(given, context);
    };
    return { name, description, run, ...(Object.keys(parameters).length && { parameters }) };
  }

  #now() {
    if (this.#call) return this.#call;
    throw Object.assign(new Error("there is no call"), { code: "not_connected", remedy: "start a call first" });
  }

  #changed(call) {
    if (this.#call !== call) return;
    if (over(call.state)) {
      this.#call = null;
      // Everything is as before the call, except for the reason of a failure.
      this.#left = { ...idle, state: call.state, confirmed: call.state, error: call.error };
    }
    this.#update();
  }

  #update() {
    const now = this.#call ?? { ...this.#left, muted: this.#muted };
    for (const [part, read] of Object.entries(parts)) {
      const value = read(now);
      if (this.#parts[part] && same(this.#parts[part], value)) continue;
      this.#parts[part] = value;
      for (const changed of [...this.#subscribers[part]]) changed();
    }
  }
}

// coming returns the beginning of the words of an entry that the user has not heard yet.
export const coming = ({ text, heard }, most = 120) => {
  const words = text.slice(heard);
  return words.length > most ? `${words.slice(0, words.lastIndexOf(" ", most) + 1 || most)}…` : words;
};
