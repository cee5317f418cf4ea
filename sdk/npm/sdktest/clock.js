// The class Clock, a virtual clock for tests: it replaces the page's timers.

import { turn } from "./tasks.js";

// maxRings limits how many timers one advance may ring.
const maxRings = 100_000;

const names = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"];

// Clock replaces the page's timers and performance.now(). Its time stands still until advance is called.
export class Clock {
  #timers = new Map(); // by number, in the order in which they were set
  #number = 0;
  #now = 0;
  #kept = null; // what install has replaced

  // The time in ms, as performance.now() tells it.
  get now() {
    return this.#now;
  }

  // The number of timers that have not rung.
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

  // restore lets time run again: each timer rings after the rest of its time, and performance.now() goes on from the clock's time, since
  // a page's program must not see it go back.
  restore() {
    if (!this.#kept) return;
    const { now, own, timers } = this.#kept;
    this.#kept = null;
    timers.forEach((f, i) => (globalThis[names[i]] = f));
    for (const { at, ring, every } of this.#timers.values()) {
      const timer = every ? setInterval(ring, every) : setTimeout(ring, at - this.#now);
      timer.unref?.(); // Node need not wait for the timers that a test has left
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

  // advance moves the clock by so many milliseconds. It rings the timers that are due by then, one after another and each at its own
  // time, and lets promises and tasks run in between.
  async advance(ms) {
    await turn();
    await turn();
    const end = this.#now + Math.max(ms, 0);
    for (let rung = 0; ; rung++) {
      const [number, next] = this.#next();
      if (!next || next.at > end) break;
      if (rung >= maxRings) throw new Error(`more than ${maxRings} timers rang in ${ms} ms: does one set itself again at once?`);
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

  // next returns the timer that is due first, as [number, timer].
  #next() {
    let first = [];
    for (const one of this.#timers) if (!first.length || one[1].at < first[1].at) first = one;
    return first;
  }
}
