// Runs in a page before its own scripts: its microphone is what the test says, when it says it.

(() => {
  const context = new AudioContext({ sampleRate: 48000 });
  const mouths = [];

  navigator.mediaDevices.getUserMedia = async () => {
    const mouth = context.createMediaStreamDestination();
    mouths.push(mouth);
    return mouth.stream;
  };

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
    return performance.now() + 1000 * (begin - context.currentTime);
  };
})();
