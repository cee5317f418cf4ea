// The two audio worklets, which run on the browser's audio thread: one captures, one plays. There is neither TextDecoder nor crypto
// here, so no Go program can run: the worklets only pass audio on.

// "antiphon-capture" posts frames of 10 ms: first that of input 0 (the microphone), then that of input 1 (the agent), as the bytes of
// 32-bit floats. It posts the same memory each time; the browser copies it.
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
      // An input that is not connected is silent. A block has 128 samples unless the page has asked for another size.
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

// "antiphon-playout" plays the audio that its messages contain, for calls over a WebSocket. It counts positions in samples from the
// beginning of the call, and keeps some seconds of played audio for a rewind.
const kept = 6 * sampleRate;

registerProcessor(
  "antiphon-playout",
  class extends AudioWorkletProcessor {
    pieces = []; // { from, samples }, in order; from is a position
    at = 0; // played position
    reported = 0; // played position that was posted last
    held = false;
    running = true;

    constructor() {
      super();
      this.port.onmessage = ({ data }) => this.take(data);
    }

    // take handles a message: samples at position from; hold or go on; seek to a position; stop, which drops all audio and sets the
    // position; close.
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
      if (Math.abs(this.at - this.reported) >= sampleRate / 100 || (this.at !== this.reported && !this.pieces.some(({ from, samples }) => this.at < from + samples.length))) {
        this.reported = this.at;
        this.port.postMessage(this.at);
      }
      return this.running;
    }
  },
);
