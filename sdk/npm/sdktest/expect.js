// What a test expects of the page's events: keeps them, takes and compares them, and says what came instead.

import { after } from "./tasks.js";

// ExpectationError says that an expected event did not come, or that a call is not as expected.
export class ExpectationError extends Error {
  name = "ExpectationError";
}

// kept limits the events that no test has taken yet, in number and in characters. The oldest ones are dropped first.
const kept = { events: 10_000, characters: 16_000_000 };

// shown is the largest number of characters that an error quotes of an event.
const shown = 400;

// quote returns a value as text for an error.
export const quote = (value) => {
  const text = value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > shown ? `${text.slice(0, shown)}… (${text.length} characters)` : text;
};

const isObject = (value) => typeof value === "object" && value !== null;

// differs says where got differs from want; it returns "" when it does not. An object may have more members than want has, a list may
// not have more elements, and want may have a regular expression for a text.
export const differs = (want, got, path = "it") => {
  if (want instanceof RegExp) return typeof got === "string" && want.test(got) ? "" : `${path} is ${quote(got)}, and ${want} does not match that`;
  if (!isObject(want)) return Object.is(want, got) ? "" : `${path} is ${quote(got)}, not ${quote(want)}`;
  if (Array.isArray(want) !== Array.isArray(got) || !isObject(got)) return `${path} is ${quote(got)}, not ${quote(want)}`;
  if (Array.isArray(want) && want.length !== got.length) return `${path} has ${got.length} elements, not ${want.length}: ${quote(got)}`;
  for (const [key, part] of Object.entries(want)) {
    const found = differs(part, got[key], Array.isArray(want) ? `${path}[${key}]` : path === "it" ? key : `${path}.${key}`);
    if (found) return found;
  }
  return "";
};

// Inbox keeps the page's events until a test takes them.
export class Inbox {
  dropped = 0; // number of events that were dropped because the inbox was full

  #events = []; // { event, size }
  #size = 0;
  #waiting = []; // { take, fail } of each call of next that waits
  #last = []; // types of the events that were taken last
  #closed = false;

  put(event, size) {
    const waiting = this.#waiting.shift();
    if (waiting) return waiting.take(event);
    this.#events.push({ event, size });
    this.#size += size;
    while (this.#events.length > kept.events || (this.#size > kept.characters && this.#events.length > 1)) {
      this.#size -= this.#events.shift().size;
      this.dropped++;
    }
  }

  // all takes all events.
  all() {
    const all = this.#events.map(({ event }) => event);
    [this.#events, this.#size] = [[], 0];
    return all;
  }

  // next takes the next event, and waits for it up to within ms. An error says what did not come, and in how many ms (of).
  async next(within, what, of = within) {
    const event = await this.#next(within, what, of);
    this.#last = [...this.#last.slice(-4), event.type];
    return event;
  }

  #next(within, what, of) {
    if (this.#closed) return Promise.reject(new ExpectationError(`the server was closed: ${what} cannot come`));
    const first = this.#events.shift();
    if (first) {
      this.#size -= first.size;
      return Promise.resolve(first.event);
    }
    return new Promise((resolve, reject) => {
      const fail = (why) => reject(new ExpectationError(`${why}${this.#before()}`));
      const stop = after(within, () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        fail(`${what} did not come in ${of} ms`);
      });
      const waiting = { take: (event) => (stop(), resolve(event)), fail: () => (stop(), fail(`the server was closed while ${what} was expected`)) };
      this.#waiting.push(waiting);
    });
  }

  // before says in words which events came before, for an error.
  #before() {
    const dropped = this.dropped ? `; ${this.dropped} events were dropped because nobody had expected them` : "";
    return this.#last.length ? `; before came ${this.#last.join(", ")}${dropped}` : dropped;
  }

  close() {
    this.#closed = true;
    for (const { fail } of this.#waiting.splice(0)) fail();
    this.all();
  }
}

// opening has the events that each call begins with. expect passes over them unless the test expects one of them.
const opening = new Set(["antiphon.hello", "session.update"]);

// expect takes the next event, which must be of this type and have these parts.
export const expect = async (inbox, type, like, within) => {
  for (;;) {
    const event = await inbox.next(within, type);
    if (event.type !== type) {
      if (opening.has(event.type)) continue;
      throw new ExpectationError(`the page sent ${event.type} instead of ${type}: ${quote(event)}`);
    }
    const found = differs(like, event);
    if (found) throw new ExpectationError(`the page sent ${type}, but ${found}: ${quote(event)}`);
    return event;
  }
};

// until takes events until one is of this type and has these parts.
export const until = async (inbox, type, like, within) => {
  let nearly = "";
  for (const end = Date.now() + within; ; ) {
    const event = await inbox.next(Math.max(end - Date.now(), 0), nearly || type, within);
    if (event.type !== type) continue;
    const found = differs(like, event);
    if (!found) return event;
    nearly = `another ${type} (of the last one ${found})`;
  }
};
