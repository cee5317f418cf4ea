// A microphone that never ends: 24 kHz PCM in real time, queued speech or silence.

const bytesPerMS = 48;
const everyMS = 20;

export class Microphone {
  #queue = [];
  #began = 0;
  #sentMS = 0;
  #timer;

  // open calls send with one frame after another, as an ArrayBuffer.
  open(send) {
    this.#began = performance.now();
    this.#sentMS = 0;
    this.#timer = setInterval(() => {
      // A late timer sends more frames, so that the sound keeps real time.
      const due = Math.floor((performance.now() - this.#began - this.#sentMS) / everyMS) * everyMS;
      if (due <= 0) return;
      this.#sentMS += due;
      send(this.#take(due * bytesPerMS));
    }, everyMS);
  }

  // say queues PCM (base64).
  say(base64) {
    this.#queue.push(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
  }

  close() {
    clearInterval(this.#timer);
  }

  #take(size) {
    const frame = new Uint8Array(size);
    let at = 0;
    while (at < size && this.#queue.length > 0) {
      const piece = this.#queue[0].subarray(0, size - at);
      frame.set(piece, at);
      at += piece.length;
      const rest = this.#queue[0].subarray(piece.length);
      if (rest.length > 0) this.#queue[0] = rest;
      else this.#queue.shift();
    }
    return frame.buffer;
  }
}

// base64 encodes bytes for the protocol.
export function base64(buffer) {
  let text = "";
  for (const byte of new Uint8Array(buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}
