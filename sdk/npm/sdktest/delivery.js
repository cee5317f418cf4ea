// How a server's events travel to the page: in order, or with the faults of a bad network.

import { task, turn } from "./tasks.js";

// kept limits the number of events under way to the page.
const kept = 100_000;

// Delivery brings a server's events to the page, each in its own task and in the order in which they were sent, as a network does; and
// with faults, if a test sets them.
export class Delivery {
  // late: each event comes so many ms later. twice: each event comes twice. reversed: so many events at a time come in reverse order.
  // strange: an event that no client knows comes before each. silent: no event comes.
  faults = {};

  #queue = [];
  #held = [];
  #runs = false;
  #closed = false;

  // event queues run, which brings one event, with the present faults. strange brings an event that no client knows.
  event(run, strange) {
    const { twice, reversed, silent, strange: odd } = this.faults;
    if (silent) return;
    this.#held.push(...(odd ? [strange] : []), run, ...(twice ? [run] : []));
    if (this.#held.length >= (reversed ?? 0)) this.#release();
  }

  // then calls run after everything that was sent before.
  then(run) {
    this.#release();
    this.#put(run);
  }

  #release() {
    const all = this.#held.splice(0);
    for (const run of this.faults.reversed ? all.reverse() : all) this.#put(run);
  }

  #put(run) {
    const { late } = this.faults;
    if (late) setTimeout(() => this.#ready(run), late);
    else this.#ready(run);
  }

  #ready(run) {
    if (this.#closed) return;
    if (this.#queue.length >= kept) throw new Error(`more than ${kept} events are under way to the page: wait for some of them`);
    this.#queue.push(run);
    if (this.#runs) return;
    this.#runs = true;
    task(() => this.#next());
  }

  #next() {
    try {
      this.#queue.shift()?.();
    } finally {
      this.#runs = this.#queue.length > 0;
      if (this.#runs) task(() => this.#next());
    }
  }

  // settled waits until nothing is under way and the page has handled it. It does not wait for late events.
  async settled() {
    for (let quiet = 0; quiet < 3; quiet = this.#queue.length > 0 ? 0 : quiet + 1) await turn();
  }

  misbehave(faults) {
    this.#release();
    this.faults = { ...faults };
  }

  close() {
    this.#closed = true;
    this.#queue = [];
    this.#held = [];
  }
}
