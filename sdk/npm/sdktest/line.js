import { task, turn } from "./tasks.js";

// kept bounds what is under way to the page.
const kept = 100_000;

// Line brings what a server sends to the page, each in a task of its own and in the order in which it was sent, as a network does; and as
// a bad one does, where it is told to.
export class Line {
  // late: ms that each event comes late. twice: each comes again. reversed: as many as these come in the wrong order. strange: an event
  // that no client knows comes before each. silent: none comes.
  faults = {};

  #queue = [];
  #held = [];
  #runs = false;
  #closed = false;

  // event has run bring one event; strange brings the one that no client knows.
  event(run, strange) {
    const { twice, reversed, silent, strange: odd } = this.faults;
    if (silent) return;
    this.#held.push(...(odd ? [strange] : []), run, ...(twice ? [run] : []));
    if (this.#held.length >= (reversed ?? 0)) this.#release();
  }

  // then has run happen behind everything that was sent before.
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

  // settled waits until nothing is under way, and the page has had its turn. What comes late is not waited for.
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
