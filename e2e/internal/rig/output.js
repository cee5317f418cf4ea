// Runs in a page before its own scripts and records the sound that the tab plays, after the volume of the audio elements, which the
// call's own track does not show. It also notes every event of the protocol that any client in the page sends or gets.

(() => {
  const most = 100000; // chunks: a quarter of an hour
  const chunks = []; // { at, got, n, pcm }: media time and time of arrival, in ms; length in samples
  let rate = 0;

  const listen = async (track) => {
    const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 1000 }).readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const n = value.numberOfFrames;
      const floats = new Float32Array(n);
      value.copyTo(floats, { planeIndex: 0, format: "f32-planar" });
      const pcm = new Int16Array(n);
      for (let i = 0; i < n; i++) pcm[i] = Math.max(-32768, Math.min(32767, Math.round(floats[i] * 32768)));
      rate = value.sampleRate;
      chunks.push({ at: value.timestamp / 1000, got: performance.now(), n, pcm });
      value.close();
      if (chunks.length > most) chunks.shift();
    }
  };

  window.testOutput = {
    // Begins the recording. It needs a user's gesture.
    begin: async () => {
      const stream = await navigator.mediaDevices.getDisplayMedia({
        audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false, suppressLocalAudioPlayback: false },
        video: { width: 16, height: 16, frameRate: 1 },
        preferCurrentTab: true,
        selfBrowserSurface: "include",
      });
      for (const track of stream.getVideoTracks()) track.stop();
      const [track] = stream.getAudioTracks();
      void listen(track);
      testOutput.stream = new MediaStream([track]);
    },
    // Returns the sound since the last call.
    take: () => {
      const taken = chunks.splice(0);
      let length = 0;
      for (const c of taken) length += c.n;
      const all = new Int16Array(length);
      let used = 0;
      for (const c of taken) {
        all.set(c.pcm, used);
        used += c.n;
      }
      const bytes = new Uint8Array(all.buffer);
      let text = "";
      for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
      return { rate, pcm: btoa(text), at: taken.map((c) => c.at), got: taken.map((c) => c.got), n: taken.map((c) => c.n) };
    },
    // Returns the protocol's events since the last call: { at, dir, event }.
    events: () => events.splice(0),
    // Returns how much of the agent's sound the browser has concealed so far, in ms, because packets did not come in time.
    concealed: async () => {
      let ms = 0;
      for (const peer of testOutput.peers) {
        if (peer.connectionState === "closed") continue;
        for (const s of (await peer.getStats()).values()) {
          if (s.type === "inbound-rtp" && s.totalSamplesReceived > 0) ms += (1000 * s.totalSamplesDuration * s.concealedSamples) / s.totalSamplesReceived;
        }
      }
      return ms;
    },
    peers: [],
  };

  const events = [];
  const note = (dir, data) => {
    const at = performance.now();
    try {
      const event = JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data));
      events.push({ at, dir, event });
      if (events.length > 20000) events.shift();
    } catch {
      // A text that is no JSON is no event.
    }
  };
  const Native = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Native {
    constructor(...args) {
      super(...args);
      testOutput.peers.push(this);
    }

    createDataChannel(...args) {
      const channel = super.createDataChannel(...args);
      channel.addEventListener("message", ({ data }) => note("server", data));
      const send = channel.send.bind(channel);
      channel.send = (data) => {
        note("client", data);
        send(data);
      };
      return channel;
    }
  };
})();
