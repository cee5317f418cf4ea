// A browser for tests in Node: the parts that a call needs, with knobs in `fake`.
"use strict";

{
  const named = (name, message) => Object.assign(new Error(message ?? name), { name });

  // Counts what is listened to, so that a test can see that all was let go.
  class Target extends EventTarget {
    addEventListener(...args) {
      fake.listeners++;
      super.addEventListener(...args);
    }
    removeEventListener(...args) {
      fake.listeners--;
      super.removeEventListener(...args);
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

  class PeerConnection extends Target {
    constructor(config) {
      super();
      this.config = config;
      this.connectionState = "new";
      this.closed = false;
      fake.connections.push(this);
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
    async createOffer() {
      return { type: "offer", sdp: "the offer" };
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
    constructor() {
      fake.contexts.push(this);
    }
    createMediaStreamSource(stream) {
      return { stream, connect() {}, disconnect() {} };
    }
    createAnalyser() {
      return { getFloatTimeDomainData: (window) => window.fill(fake.amplitude) };
    }
    resume() {
      this.state = "running";
    }
    close() {
      this.state = "closed";
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
        permission: "prompt", amplitude: 0.1, sendThrows: false, replaceThrows: false, playThrows: "",
        status: 201, body: "the answer", headers: { "Antiphon-Version": "1" }, unreachable: false, hangs: false,
      });
      globalThis.RTCPeerConnection = PeerConnection;
      globalThis.AudioContext = Context;
      const navigator = { mediaDevices: new Devices(), permissions: { query: async () => ({ state: fake.permission }) } };
      Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true, writable: true });
    },
    stream: () => new Stream([new Track("given")]),
    emptyStream: () => new Stream([]),
    audio: () => ({
      plays: 0, srcObject: null,
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
    remote: () => ({ streams: [new Stream([])], track: {} }),
    remoteWithoutStream: () => ({ streams: [], track: {} }),
  };

  globalThis.MediaStream = Stream;
  globalThis.fetch = (url, init) => {
    fake.requests.push({ url, method: init.method ?? "GET", body: init.body ?? "", headers: init.headers });
    return new Promise((resolve, reject) => {
      if (fake.hangs) {
        init.signal.addEventListener("abort", () => reject(named("AbortError")));
        return;
      }
      if (fake.unreachable) return reject(named("TypeError", "Failed to fetch"));
      resolve(answer(fake.status, fake.body, fake.headers));
    });
  };
  fake.reset();
}
