import { turn } from "./tasks.js";

// rings bounds how many functions one advance calls.
const rings = 100_000;

const names = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"];

// Clock takes the place of the page's timers and of performance.now(): it stands still until it is turned.
export class Clock {
  #timers = new Map(); // by number, in the order in which they were set
  #number = 0;
  #now = 0;
  #kept = null; // what was there before

  // The time in ms, as performance.now() tells it.
  get now() {
    return this.#now;
  }

  // How many functions wait for their time.
  get waiting() {
    return this.#timers.size;
  }

  install() {
    if (this.#kept) return this;
    this.#now = performance.now();
    this.#kept = { now: performance.now, own: Object.hasOwn(performance, "now"), timers: names.map((name) => globalThis[name]) };
    const set = (every) => (f, ms = 0, ...args) => this.#set(f, ms, args, every);
    const clear = (timer) => void this.#timers.delete(Number(timer));
    [set(false), clear, set(true), clear].forEach((f, i) => (globalThis[names[i]] = f));
    this.#clocked(() => this.#now);
    return this;
  }

  // restore lets time run again: what waits rings in what is left of its time, and performance.now() goes on from the clock's, since a
  // page's program must not see it go back.
  restore() {
    if (!this.#kept) return;
    const { now, own, timers } = this.#kept;
    this.#kept = null;
    timers.forEach((f, i) => (globalThis[names[i]] = f));
    for (const { at, ring, every } of this.#timers.values()) {
      const timer = every ? setInterval(ring, every) : setTimeout(ring, at - this.#now);
      timer.unref?.(); // Node need not wait for what a test has left behind
    }
    this.#timers.clear();
    const ahead = Math.max(this.#now - now.call(performance), 0);
    if (!ahead && !own) delete performance.now;
    else this.#clocked(ahead ? () => now.call(performance) + ahead : now);
  }

  #clocked(now) {
    Object.defineProperty(performance, "now", { value: now, configurable: true, writable: true });
  }

  #set(f, ms, args, every) {
    const wait = Math.max(Number(ms) || 0, every ? 1 : 0);
    const number = ++this.#number;
    this.#timers.set(number, { at: this.#now + wait, ring: () => f(...args), every: every ? wait : 0 });
    const timer = { ref: () => timer, unref: () => timer, hasRef: () => true, [Symbol.toPrimitive]: () => number };
    return timer;
  }

  // advance turns the clock by so many milliseconds, and calls, one after another and at their own time, the functions that are due by
  // then; between them everything else goes on that waits for no time.
  async advance(ms) {
    await turn();
    await turn();
    const end = this.#now + Math.max(ms, 0);
    for (let rung = 0; ; rung++) {
      const [number, next] = this.#next();
      if (!next || next.at > end) break;
      if (rung >= rings) throw new Error(`more than ${rings} timers rang in ${ms} ms: does one set itself again at once?`);
      this.#now = Math.max(this.#now, next.at);
      if (next.every) next.at += next.every;
      else this.#timers.delete(number);
      next.ring();
      await turn();
      await turn();
    }
    this.#now = end;
    await turn();
  }

  #next() {
    let first = [];
    for (const one of this.#timers) if (!first.length || one[1].at < first[1].at) first = one;
    return first;
  }
}
