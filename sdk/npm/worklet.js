// Runs beside the sound. It has neither TextDecoder nor crypto, so that no Go program can run here: it only passes sound on.

// "antiphon-capture" posts 10 ms at a time: those of its first input (the microphone), then those of its second (the agent), as the
// bytes of 32-bit floats. It posts the same memory each time, which the browser copies.
registerProcessor(
  "antiphon-capture",
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

// "antiphon-playout" plays what it is given, where the sound comes in messages (a WebSocket). Its places are counted in samples
// from the beginning of the call. It keeps some of what was played, so that it can go back.
const kept = 6 * sampleRate;

registerProcessor(
  "antiphon-playout",
  class extends AudioWorkletProcessor {
    pieces = []; // { from, samples }, one behind the other
    at = 0;
    told = 0;
    held = false;
    running = true;

    constructor() {
      super();
      this.port.onmessage = ({ data }) => this.take(data);
    }

    take({ from, samples, hold, seek, stop, close }) {
      if (samples) this.pieces.push({ from, samples });
      if (hold !== undefined) this.held = hold;
      if (seek !== undefined) this.at = seek;
      if (stop !== undefined) [this.pieces, this.at, this.held] = [[], stop, false];
      if (close) this.running = false;
    }

    process(_, [[out]]) {
      for (let done = 0; done < out.length && !this.held; ) {
        const piece = this.pieces.find(({ from, samples }) => this.at < from + samples.length);
        if (!piece) break;
        this.at = Math.max(this.at, piece.from);
        const part = piece.samples.subarray(this.at - piece.from, this.at - piece.from + out.length - done);
        out.set(part, done);
        done += part.length;
        this.at += part.length;
      }
      while (this.pieces.length && this.pieces[0].from + this.pieces[0].samples.length < this.at - kept) this.pieces.shift();
      if (Math.abs(this.at - this.told) >= sampleRate / 100 || (this.at !== this.told && !this.pieces.some(({ from, samples }) => this.at < from + samples.length))) {
        this.told = this.at;
        this.port.postMessage(this.at);
      }
      return this.running;
    }
  },
);
