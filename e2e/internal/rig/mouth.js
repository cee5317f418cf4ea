// Runs in a page before its own scripts: its microphone is what the test says, when it says it.

(() => {
  const context = new AudioContext({ sampleRate: 48000, latencyHint: 0 });
  const mouths = [];
  const mixed = []; // what every microphone hears beside what is said

  navigator.mediaDevices.getUserMedia = async () => {
    const mouth = context.createMediaStreamDestination();
    mouths.push(mouth);
    // A microphone never ends: without a source the stream would stop where what is said does.
    const idle = new ConstantSourceNode(context, { offset: 0 });
    idle.connect(mouth);
    idle.start();
    for (const node of mixed) node.connect(mouth);
    return mouth.stream;
  };

  // The context's time comes in steps, as blocks of sound are made. Of the moments within the last second, the one that was earliest
  // for its time of the context says when a sample is made: { now, context } in ms.
  const moments = [];
  setInterval(() => {
    moments.push(performance.now() - 1000 * context.currentTime);
    if (moments.length > 200) moments.shift();
  }, 5);

  // say plays a WAV file (base64) into the microphone and gives the time, on the clock of performance.now(), at which
  // its first sample goes in.
  window.say = async (wav) => {
    const bytes = Uint8Array.from(atob(wav), (c) => c.charCodeAt(0));
    const buffer = await context.decodeAudioData(bytes.buffer);
    const source = context.createBufferSource();
    source.buffer = buffer;
    for (const mouth of mouths) source.connect(mouth);
    const begin = context.currentTime + 0.02;
    source.start(begin);
    return 1000 * begin + Math.min(...moments, performance.now() - 1000 * context.currentTime);
  };

  window.mouth = {
    context,
    // mix lets every microphone hear a node of the context.
    mix: (node) => {
      mixed.push(node);
      for (const mouth of mouths) node.connect(mouth);
    },
  };
})();
