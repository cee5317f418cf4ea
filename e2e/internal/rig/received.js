// Runs in a page before its own scripts. It records the agent's sound as the page receives and decodes it, and lists what the
// Content-Security-Policy has refused.

(() => {
  const loudRMS = 0.006; // -44 dBFS: speech is above this level, the codec's idle noise below

  const frames = []; // { at, n }: media time in ms and length in samples
  let pcm = new Int16Array(1 << 20);
  let used = 0;
  let rate = 0;
  let offset = Infinity; // performance.now() at media time 0, from the frame with the least delay
  let loudMS = 0;
  let firstLoud = Infinity; // media time
  let lastLoud = -Infinity;
  const violations = [];
  const peers = [];

  const keep = (data) => {
    const n = data.numberOfFrames;
    const floats = new Float32Array(n);
    data.copyTo(floats, { planeIndex: 0, format: "f32-planar" });
    const at = data.timestamp / 1000;
    rate = data.sampleRate;
    data.close();
    offset = Math.min(offset, performance.now() - at);
    if (used + n > pcm.length) {
      const larger = new Int16Array(2 * pcm.length);
      larger.set(pcm);
      pcm = larger;
    }
    let sum = 0;
    for (let i = 0; i < n; i++) {
      sum += floats[i] * floats[i];
      pcm[used + i] = Math.max(-32768, Math.min(32767, Math.round(floats[i] * 32768)));
    }
    used += n;
    frames.push({ at, n });
    if (Math.sqrt(sum / n) > loudRMS) {
      loudMS += (1000 * n) / rate;
      firstLoud = Math.min(firstLoud, at);
      lastLoud = at + (1000 * n) / rate;
    }
  };

  const listen = async (track) => {
    // Ten seconds of frames may wait while the page is busy. Without that, the browser would drop frames.
    const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 1000 }).readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      keep(value);
    }
  };

  const Native = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Native {
    constructor(...args) {
      super(...args);
      peers.push(this);
      this.addEventListener("track", (e) => void listen(e.track));
    }
  };

  addEventListener("securitypolicyviolation", (e) => {
    violations.push(`${e.violatedDirective}: ${e.blockedURI} in ${e.sourceFile}:${e.lineNumber}`);
  });

  window.testReceived = {
    // A summary of the sound so far.
    now: () => ({
      loudMS,
      sinceMS: firstLoud === Infinity ? -1 : performance.now() - offset - firstLoud,
      quietMS: lastLoud === -Infinity ? -1 : performance.now() - offset - lastLoud,
      frames: frames.length,
      violations,
    }),
    // All sound so far, with the time of each frame on the clock of performance.now().
    all: () => {
      const bytes = new Uint8Array(pcm.buffer, 0, 2 * used);
      let text = "";
      for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
      return { rate, pcm: btoa(text), at: frames.map((f) => f.at + offset), n: frames.map((f) => f.n) };
    },
    // How much sound the connections have made up so far because packets did not come in time, in ms.
    concealed: async () => {
      let sum = 0;
      for (const peer of peers) {
        if (peer.connectionState === "closed") continue;
        for (const s of (await peer.getStats()).values()) {
          if (s.type === "inbound-rtp" && s.totalSamplesReceived > 0) sum += (1000 * s.totalSamplesDuration * s.concealedSamples) / s.totalSamplesReceived;
        }
      }
      return sum;
    },
    // The connections' own measurements.
    energy: async () => {
      let sum = 0;
      for (const peer of peers) {
        if (peer.connectionState === "closed") continue;
        for (const s of (await peer.getStats()).values()) if (s.type === "inbound-rtp") sum += s.totalAudioEnergy;
      }
      return sum;
    },
  };
})();
