// A browser for tests in Node: the parts that a call needs, with knobs in `fake`.
"use strict";

{
  const named = (name, message) => Object.assign(new Error(message ?? name), { name });

  // Counts what is listened to, so that a test can see that all was let go.
  class Target extends EventTarget {
    addEventListener(type, f, { signal }) {
      const counted = fake;
      fake.listeners++;
      signal.addEventListener("abort", () => counted.listeners--, { once: true });
      super.addEventListener(type, f, { signal });
    }
    fire(type, fields) {
      this.dispatchEvent(Object.assign(new Event(type), fields));
    }
  }

  class Track extends Target {
    constructor(id) {
      super();
      this.id = id;
      this.enabled = true;
      this.stopped = false;
      fake.tracks.push(this);
    }
    getSettings() {
      return { deviceId: this.id };
    }
    stop() {
      this.stopped = true;
    }
  }

  class Stream {
    constructor(tracks) {
      this.tracks = tracks;
    }
    getTracks() {
      return this.tracks;
    }
    getAudioTracks() {
      return this.tracks;
    }
    clone() {
      return new Stream(this.tracks.map((track) => new Track(track.id)));
    }
  }

  class Channel extends Target {
    readyState = "connecting";
    bufferedAmount = 0;
    sent = [];
    open() {
      this.readyState = "open";
      this.fire("open");
    }
    send(text) {
      if (fake.sendThrows) throw named("OperationError");
      this.sent.push(text);
    }
    close() {
      this.readyState = "closed";
    }
  }

  class Receiver {
    getSynchronizationSources() {
      return fake.sources;
    }
    async getStats() {
      return new Map(fake.stats.map((one) => [one.id, one]));
    }
  }

  class PeerConnection extends Target {
    constructor(config) {
      super();
      this.config = config;
      this.connectionState = "new";
      this.closed = false;
      fake.connections.push(this);
    }
    setConfiguration(config) {
      this.config = config;
    }
    addTransceiver(kind, init) {
      this.kind = kind;
      this.direction = init.direction;
      this.sender = {
        track: null,
        replaceTrack: async (track) => {
          if (fake.replaceThrows) throw named("InvalidModificationError");
          this.sender.track = track;
        },
      };
      return { sender: this.sender };
    }
    createDataChannel(label) {
      this.channel = Object.assign(new Channel(), { label });
      return this.channel;
    }
    async createOffer(options) {
      return { type: "offer", sdp: options?.iceRestart ? "the offer again" : "the offer" };
    }
    async setLocalDescription(description) {
      this.local = description;
    }
    async setRemoteDescription(description) {
      if (description.sdp === "garbage") throw named("OperationError", "Failed to parse SessionDescription");
      this.remote = description;
    }
    state(state) {
      this.connectionState = state;
      this.fire("connectionstatechange");
    }
    close() {
      this.closed = true;
    }
  }

  class Context {
    state = "running";
    audioWorklet = fake.tooOld ? undefined : {
      addModule: async (module) => {
        fake.modules.push(module);
        if (fake.moduleThrows) throw named(fake.moduleThrows);
      },
    };
    constructor(options) {
      this.sampleRate = options.sampleRate ?? fake.sampleRate;
      fake.contexts.push(this);
    }
    createMediaStreamSource(stream) {
      return {
        connect: (node, output, input) => node.inputs.set(input, stream),
        disconnect() {},
      };
    }
    createGain() {
      return { gain: { value: 1 }, connect() {}, disconnect() {} };
    }
    resume() {
      this.state = "running";
    }
    close() {
      this.state = "closed";
    }
  }

  class WorkletNode {
    inputs = new Map();
    constructor(context, name, options) {
      Object.assign(this, { context, name, options });
      this.port = { posted: [], onmessage: null, postMessage: (message) => this.port.posted.push(message) };
      fake.nodes.push(this);
    }
    connect() {}
    disconnect() {}
    // post gives 10 ms of both sides, as the worklet does; each is a function of the sample's number.
    post(microphone, agent) {
      const size = this.context.sampleRate / 100;
      const frame = new Float32Array(2 * size);
      for (let i = 0; i < size; i++) {
        frame[i] = microphone(this.at ?? 0);
        frame[size + i] = agent(this.at ?? 0);
        this.at = (this.at ?? 0) + 1;
      }
      this.port.onmessage?.({ data: new Uint8Array(frame.buffer) });
    }
  }

  class Devices extends Target {
    async getUserMedia(constraints) {
      fake.asked.push(constraints.audio.deviceId?.exact ?? "");
      const failure = fake.microphone.shift();
      if (failure) throw named(failure);
      return new Stream([new Track(fake.asked.at(-1) || "default")]);
    }
    async enumerateDevices() {
      return [
        { kind: "audioinput", deviceId: "default", label: "Default" },
        { kind: "videoinput", deviceId: "camera", label: "Camera" },
        { kind: "audiooutput", deviceId: "s1", label: "Speakers" },
      ];
    }
  }

  const answer = (status, body, headers = {}) => ({
    clone() {
      return this;
    },
    ok: status >= 200 && status < 300,
    status,
    headers: new Headers(headers),
    text: async () => body,
    json: async () => JSON.parse(body),
  });

  globalThis.fake = {
    reset() {
      Object.assign(fake, {
        listeners: 0, tracks: [], connections: [], contexts: [], asked: [], requests: [],
        microphone: [], // the errors of the next questions; "" is none
        nodes: [], tooOld: false, modules: [], moduleThrows: "", sampleRate: 48000, stats: [], sources: [],
        permission: "prompt", sendThrows: false, replaceThrows: false, playThrows: "",
        status: 201, body: "the answer", headers: { "Antiphon-Version": "1" }, unreachable: false, hangs: false,
        iceServers: "[]", // that the server names
      });
      globalThis.RTCPeerConnection = PeerConnection;
      globalThis.AudioContext = Context;
      globalThis.AudioWorkletNode = WorkletNode;
      const navigator = { mediaDevices: new Devices(), permissions: { query: async () => ({ state: fake.permission }) } };
      Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true, writable: true });
    },
    stream: () => new Stream([new Track("given")]),
    emptyStream: () => new Stream([]),
    audio: () => ({
      plays: 0, srcObject: null, volume: 1, muted: false,
      async play() {
        this.plays++;
        if (fake.playThrows) throw named(fake.playThrows);
      },
      pause() {},
      async setSinkId(id) {
        if (id === "gone") throw named("NotFoundError");
        this.sinkId = id;
      },
    }),
    remote: () => ({ streams: [new Stream([])], track: {}, receiver: new Receiver() }),
    remoteWithoutStream: () => ({ streams: [], track: {} }),
  };

  globalThis.MediaStream = Stream;
  globalThis.fetch = (url, init) => {
    if (url.endsWith("/v1/antiphon/ice-servers")) return Promise.resolve(answer(200, `{"ice_servers":${fake.iceServers}}`));
    fake.requests.push({ url, method: init?.method ?? "GET", body: init?.body ?? "", headers: init?.headers });
    return new Promise((resolve, reject) => {
      if (fake.hangs) {
        init.signal?.addEventListener("abort", () => reject(named("AbortError")));
        return;
      }
      if (fake.unreachable) return reject(named("TypeError", "Failed to fetch"));
      resolve(answer(fake.status, fake.body, fake.headers));
    });
  };
  fake.reset();
}
