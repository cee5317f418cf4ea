// Runs beside the sound. It has neither TextDecoder nor crypto, so that no Go program can run here: it only passes sound on.

// "antiphon-ear" posts 10 ms at a time: those of its first input (the microphone), then those of its second (the agent), as the
// bytes of 32-bit floats. It posts the same memory each time, which the browser copies.
registerProcessor(
  "antiphon-ear",
  class extends AudioWorkletProcessor {
    size = Math.round(sampleRate / 100);
    frame = new Float32Array(2 * this.size);
    bytes = new Uint8Array(this.frame.buffer);
    filled = 0;
    running = true;

    constructor() {
      super();
      this.port.onmessage = () => (this.running = false);
    }

    process(inputs) {
      const [microphone, agent] = inputs.map((channels) => channels[0]);
      const { frame, size } = this;
      // What is not connected is silent. A block is 128 samples wherever nobody has asked for another size.
      for (let at = 0, n = microphone?.length ?? agent?.length ?? 128; at < n; at++) {
        frame[this.filled] = microphone?.[at] ?? 0;
        frame[size + this.filled] = agent?.[at] ?? 0;
        if (++this.filled === size) {
          this.filled = 0;
          this.port.postMessage(this.bytes);
        }
      }
      return this.running;
    }
  },
);
