// Runs in a page before its own scripts. It replaces the page's microphone by sound that the test plays.

(() => {
  const context = new AudioContext({ sampleRate: 48000, latencyHint: 0 });
  const microphones = [];
  const mixed = []; // nodes that every microphone gets besides the test's speech

  navigator.mediaDevices.getUserMedia = async () => {
    const microphone = context.createMediaStreamDestination();
    microphones.push(microphone);
    // A microphone never ends. Without this source the stream would stop at the end of the speech.
    const idle = new ConstantSourceNode(context, { offset: 0 });
    idle.connect(microphone);
    idle.start();
    for (const node of mixed) node.connect(microphone);
    return microphone.stream;
  };

  // The context's time advances in steps, one for each block of sound. moments has pairs of the last second, { now, context } in ms.
  // The pair with the least difference says when a sample is made.
  const moments = [];
  setInterval(() => {
    moments.push(performance.now() - 1000 * context.currentTime);
    if (moments.length > 200) moments.shift();
  }, 5);

  // say plays a WAV file (base64) into the microphone and returns the time, on the clock of performance.now(), at which
  // its first sample goes in.
  window.say = async (wav) => {
    const bytes = Uint8Array.from(atob(wav), (c) => c.charCodeAt(0));
    const buffer = await context.decodeAudioData(bytes.buffer);
    const source = context.createBufferSource();
    source.buffer = buffer;
    for (const microphone of microphones) source.connect(microphone);
    const begin = context.currentTime + 0.02;
    source.start(begin);
    return 1000 * begin + Math.min(...moments, performance.now() - 1000 * context.currentTime);
  };

  window.fakeMicrophone = {
    context,
    // mix connects a node of the context to every microphone.
    mix: (node) => {
      mixed.push(node);
      for (const microphone of microphones) node.connect(microphone);
    },
  };
})();
