// The fakes of audio: a loudspeaker that plays as far as a test says, and a microphone that captures the samples that a test gives it.

import { Target } from "./events.js";
import { task } from "./tasks.js";

// rate is the sample rate, in hertz. It is that of the audio in events, so that played positions are exact.
export const rate = 24000;
const perMS = rate / 1000;

const contexts = new Set(); // the open audio contexts

// playout returns the playout of the newest audio context, or undefined.
const playout = () => [...contexts].at(-1)?.playout;

// Playout is the fake of the worklet that plays. It counts positions in samples from the beginning of the call.
class Playout {
  item = ""; // id of the item whose audio comes now
  gain = null;

  held = false;

  #given = 0; // position of the end of all audio
  #at = 0; // played position
  #starts = new Map(); // positions where the items begin that are still playing, by id
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

  // heard plays the item that came last up to its first ms milliseconds; Infinity plays all audio.
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
  port = { onmessage: null, postMessage: (message) => this.playout?.take(message), close: () => {} };

  constructor(context, name) {
    const tell = (data) => this.port.onmessage?.({ data });
    if (name === "antiphon-playout") this.playout = context.playout = new Playout(tell);
    if (name === "antiphon-capture") context.capture = { tell, stream: null };
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
  playout = null;
  capture = null;

  constructor() {
    super();
    contexts.add(this);
  }

  createMediaStreamSource(stream) {
    const connect = ({ name }, _, input) => name === "antiphon-capture" && input === 0 && (this.capture.stream = stream);
    return { connect, disconnect: () => this.capture?.stream === stream && (this.capture.stream = null) };
  }

  createGain() {
    const node = { gain: { value: 1 }, connect: () => this.playout && (this.playout.gain = node.gain), disconnect: () => {} };
    return node;
  }

  async resume() {}
  async suspend() {}

  async close() {
    this.state = "closed";
    contexts.delete(this);
  }
}

// speaker is the fake loudspeaker.
export const speaker = {
  // here reports whether audio is faked.
  here: () => Boolean(playout()),
  // comes notes whose audio comes next.
  comes: (item) => playout() && (playout().item = item),
  heard: (ms) => playout()?.heard(ms),
  // level returns the agent's volume, from 0 to 1.
  level: () => playout()?.gain?.value ?? 1,
  held: () => playout()?.held ?? false,
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

const open = new Set(); // the tracks that are not stopped

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

// room and vowel return ms milliseconds of samples at 24 kHz: the page's detector takes room for silence and vowel for speech.
const room = (ms) => Float32Array.from({ length: ms * perMS }, (_, i) => 0.001 * (((i * 7919) % 1009) / 1009 - 0.5));

const formants = [
  [700, 300, 1],
  [1200, 300, 0.5],
  [2600, 400, 0.3],
];
const pitch = 130;

// strength is how loud a harmonic of the vowel is.
const strength = (frequency) => formants.reduce((sum, [at, width, gain]) => sum + gain * Math.exp(-(((frequency - at) / width) ** 2)), 0);

const harmonics = Array.from({ length: 30 }, (_, n) => ({ frequency: (n + 1) * pitch, gain: strength((n + 1) * pitch) }));

const vowel = (ms) =>
  Float32Array.from({ length: ms * perMS }, (_, i) => {
    const turn = (2 * Math.PI * i) / rate;
    const loudness = 0.12 * (1 + 0.3 * Math.sin(4 * turn));
    return loudness * harmonics.reduce((sum, { frequency, gain }) => sum + gain * Math.sin(frequency * turn), 0);
  });

const usual = [{ deviceId: "default", kind: "audioinput", label: "Microphone", groupId: "" }];

// microphone is the fake microphone that getUserMedia opens.
export const microphone = {
  devices: usual,
  refuse: "", // name of the DOMException that getUserMedia fails with

  // The number of open tracks.
  get open() {
    return open.size;
  },

  // Whether a track is open and not muted.
  get live() {
    return [...open].some(({ enabled }) => enabled);
  },

  stream: () => new Stream(microphone.devices.find(({ kind }) => kind === "audioinput") ?? usual[0]),

  // say gives the microphone samples at 24 kHz, from -1 to 1.
  say(samples) {
    const size = rate / 100;
    for (const { capture } of contexts) {
      const track = capture?.stream?.getAudioTracks()[0];
      if (!track || track.readyState === "ended") continue;
      for (let at = 0; at < samples.length; at += size) {
        const frame = new Float32Array(2 * size);
        if (track.enabled) frame.set(samples.slice(at, at + size));
        capture.tell(new Uint8Array(frame.buffer));
      }
    }
  },

  // voice gives the microphone a moment of silence and then ms milliseconds of speech.
  voice(ms = 300) {
    microphone.quiet(600);
    microphone.say(vowel(ms));
  },

  quiet(ms = 300) {
    microphone.say(room(ms));
  },

  // unplug ends all tracks, as when the device is unplugged.
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
