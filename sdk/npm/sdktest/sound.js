import { Target } from "./events.js";
import { task } from "./tasks.js";

// A loudspeaker that plays as far as it is told to, and a microphone that hears what it is given: for tests without either.

// rate is the sound's, in hertz: that of the messages, so that places in what is played are exact.
export const rate = 24000;
const perMS = rate / 1000;

const contexts = new Set(); // that are open

const mouth = () => [...contexts].at(-1)?.mouth;

// Mouth stands for the worklet that plays. Its places are counted in samples from the beginning of the call.
class Mouth {
  item = ""; // whose sound comes now
  gain = null;

  held = false;

  #given = 0;
  #at = 0;
  #starts = new Map(); // of what can be heard still, by item
  #tell;

  constructor(tell) {
    this.#tell = tell;
  }

  take({ from, samples, hold, seek, stop }) {
    if (samples) {
      const begins = this.#at >= this.#given;
      this.#given = from + samples.length;
      if (!this.#starts.has(this.item)) this.#starts.set(this.item, from);
      if (begins) this.#play(from + 1);
    }
    if (hold !== undefined) this.held = hold;
    if (seek !== undefined) this.#at = seek;
    if (stop !== undefined) [this.#given, this.#at, this.#starts, this.held] = [stop, stop, new Map(), false];
  }

  // heard plays up to so many milliseconds of the item that came last; Infinity is all that was given.
  heard(ms) {
    const start = this.#starts.get(this.item);
    if (start !== undefined) this.#play(Math.min(Math.round(start + ms * perMS), this.#given));
    if (this.#at >= this.#given) this.#starts.clear();
  }

  #play(at) {
    this.#at = at;
    task(() => this.#tell(at));
  }
}

export class FakeWorkletNode {
  port = { onmessage: null, postMessage: (message) => this.mouth?.take(message), close: () => {} };

  constructor(context, name) {
    const tell = (data) => this.port.onmessage?.({ data });
    if (name === "antiphon-playout") this.mouth = context.mouth = new Mouth(tell);
    if (name === "antiphon-capture") context.ear = { tell, stream: null };
    this.name = name;
    this.context = context;
  }

  connect() {}
  disconnect() {}
}

export class FakeAudioContext extends Target {
  sampleRate = rate;
  state = "running";
  outputLatency = 0;
  baseLatency = 0;
  destination = {};
  audioWorklet = { addModule: async () => {} };
  mouth = null;
  ear = null;

  constructor() {
    super();
    contexts.add(this);
  }

  createMediaStreamSource(stream) {
    const connect = ({ name }, _, input) => name === "antiphon-capture" && input === 0 && (this.ear.stream = stream);
    return { connect, disconnect: () => this.ear?.stream === stream && (this.ear.stream = null) };
  }

  createGain() {
    const node = { gain: { value: 1 }, connect: () => this.mouth && (this.mouth.gain = node.gain), disconnect: () => {} };
    return node;
  }

  async resume() {}
  async suspend() {}

  async close() {
    this.state = "closed";
    contexts.delete(this);
  }
}

// speaker is what is heard.
export const speaker = {
  // Whether there is a faked one.
  here: () => Boolean(mouth()),
  // comes says whose sound comes next.
  comes: (item) => mouth() && (mouth().item = item),
  heard: (ms) => mouth()?.heard(ms),
  // How loud the agent is, from 0 to 1.
  level: () => mouth()?.gain?.value ?? 1,
  held: () => mouth()?.held ?? false,
};

class Track extends Target {
  kind = "audio";
  enabled = true;
  readyState = "live";
  muted = false;

  constructor({ deviceId, label }) {
    super();
    Object.assign(this, { id: `track-${deviceId}`, label });
    this.getSettings = () => ({ deviceId });
  }

  stop() {
    this.readyState = "ended";
    open.delete(this);
  }
}

const open = new Set(); // tracks that were not stopped

class Stream extends Target {
  active = true;
  #tracks;

  constructor(device) {
    super();
    this.#tracks = [new Track(device)];
    open.add(this.#tracks[0]);
  }

  getTracks = () => [...this.#tracks];
  getAudioTracks = () => [...this.#tracks];
  getVideoTracks = () => [];
}

// room is a quiet one, and vowel a voice in it: what the page's detector takes them for, in samples at 24 kHz.
const room = (ms) => Float32Array.from({ length: ms * perMS }, (_, i) => 0.001 * (((i * 7919) % 1009) / 1009 - 0.5));

const formants = [
  [700, 300, 1],
  [1200, 300, 0.5],
  [2600, 400, 0.3],
];
const pitch = 130;

const strength = (frequency) => formants.reduce((sum, [at, width, gain]) => sum + gain * Math.exp(-(((frequency - at) / width) ** 2)), 0);

const harmonics = Array.from({ length: 30 }, (_, n) => ({ frequency: (n + 1) * pitch, gain: strength((n + 1) * pitch) }));

const vowel = (ms) =>
  Float32Array.from({ length: ms * perMS }, (_, i) => {
    const turn = (2 * Math.PI * i) / rate;
    const loudness = 0.12 * (1 + 0.3 * Math.sin(4 * turn));
    return loudness * harmonics.reduce((sum, { frequency, gain }) => sum + gain * Math.sin(frequency * turn), 0);
  });

const usual = [{ deviceId: "default", kind: "audioinput", label: "Microphone", groupId: "" }];

// microphone is what getUserMedia opens.
export const microphone = {
  devices: usual,
  refuse: "", // name of the DOMException that getUserMedia fails with

  // How many are open.
  get open() {
    return open.size;
  },

  // Whether what it hears is sent: one is open, and not muted.
  get live() {
    return [...open].some(({ enabled }) => enabled);
  },

  stream: () => new Stream(microphone.devices.find(({ kind }) => kind === "audioinput") ?? usual[0]),

  // say lets it hear samples at 24 kHz, from -1 to 1.
  say(samples) {
    const size = rate / 100;
    for (const { ear } of contexts) {
      const track = ear?.stream?.getAudioTracks()[0];
      if (!track || track.readyState === "ended") continue;
      for (let at = 0; at < samples.length; at += size) {
        const frame = new Float32Array(2 * size);
        if (track.enabled) frame.set(samples.slice(at, at + size));
        ear.tell(new Uint8Array(frame.buffer));
      }
    }
  },

  // voice lets it hear somebody speak, who was silent for a moment before.
  voice(ms = 300) {
    microphone.quiet(600);
    microphone.say(vowel(ms));
  },

  quiet(ms = 300) {
    microphone.say(room(ms));
  },

  // unplug takes the device away.
  unplug() {
    for (const track of [...open]) {
      track.stop();
      track.emit("ended");
    }
  },

  reset() {
    [microphone.devices, microphone.refuse] = [usual, ""];
  },
};

export const mediaDevices = Object.assign(new Target(), {
  getUserMedia: async ({ audio } = {}) => {
    if (microphone.refuse) throw new DOMException("the test refuses it", microphone.refuse);
    const inputs = microphone.devices.filter(({ kind }) => kind === "audioinput");
    const wanted = audio?.deviceId?.exact;
    const device = wanted ? inputs.find(({ deviceId }) => deviceId === wanted) : inputs[0];
    if (!device) throw new DOMException("there is no such microphone", wanted ? "OverconstrainedError" : "NotFoundError");
    return new Stream(device);
  },
  enumerateDevices: async () => microphone.devices,
});
