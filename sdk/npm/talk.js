// What <antiphon-talk> shows and does. It is loaded when the first element is put into the page. It makes all elements in code, without
// markup and inline styles, so that it works under the strictest Content-Security-Policy, trusted types included.

import css from "./talk.css";

const icons = {
  talk: "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3ZM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21",
  end: "M5 5l14 14M19 5L5 19",
};

const words = {
  disconnected: ["Ready", "Press the button and speak."],
  connecting: ["Connecting…", "One moment."],
  listening: ["Listening", "Say something, or write."],
  "user-speaking": ["I hear you", ""],
  thinking: ["Thinking…", ""],
  "agent-speaking": ["Speaking", "You may interrupt."],
  reconnecting: ["Reconnecting…", "The connection was lost."],
  failed: ["Not connected", "Press the button to try again."],
};

const who = { user: "You", agent: "Agent", tool: "Tool" };

// number returns the number that a text of an attribute is, and any other text as it is: the call refuses it.
const number = (text) => (text?.trim() && !Number.isNaN(Number(text)) ? Number(text) : text);

// What gives a call a changed attribute. An attribute that was removed has its default.
const live = {
  microphone: (call, id) => call.setMicrophone(id ?? ""),
  speaker: (call, id) => call.setSpeaker(id ?? ""),
  volume: (call, volume) => call.setVolume(number(volume ?? "1")),
};

// make returns a new element with properties or attributes, a part name, listeners and children.
const make = (tag, { part, on = {}, ...fields } = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(fields)) name in element ? (element[name] = value) : element.setAttribute(name, value);
  if (part) element.setAttribute("part", part);
  for (const [type, f] of Object.entries(on)) element.addEventListener(type, f);
  element.append(...children);
  return element;
};

// icon returns a picture with this path.
const icon = (d) => {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
};

// sentence returns the words as a sentence, with a capital and a full stop.
const sentence = (words) => words && ` ${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;

// coming returns the beginning of words that are not heard yet.
const coming = (words) => (words.length > 120 ? `${words.slice(0, words.lastIndexOf(" ", 120) + 1 || 120)}…` : words);

// text sets an element's text if it differs.
const text = (element, value) => element.textContent === value || (element.textContent = value);

// Talk is the content of one element; element.js has the element itself.
export class Talk {
  call = null;

  #host;
  #page; // { connect, preload }
  #root;
  #parts = {};
  #held = false;
  #refused = null; // the error of an attribute that the call did not take
  #dismissed = null; // the error that the user has dismissed
  #lines = new Map(); // of the transcript, by id

  constructor(host, page) {
    this.#host = host;
    this.#page = page;
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#build();
    this.#show();
  }

  // changed applies a changed attribute.
  changed(name) {
    if (name === "muted" && !this.#push) this.call?.mute(this.#is("muted"));
    if (name === "disabled" && this.#is("disabled")) this.stop();
    if (live[name]) this.#apply(name);
    this.#show();
  }

  // apply gives the call a changed attribute. A call that is being placed has begun with the old value, and gets the new one when it is connected.
  async #apply(name) {
    const { call } = this;
    if (!this.#on || !(await call.ready.catch(() => null))) return;
    const value = this.#host.getAttribute(name);
    try {
      await live[name](call, value);
    } catch (error) {
      if (this.call !== call || !this.#on || name === "microphone") return; // the call reports an error of its microphone
      this.#refused = error;
      this.#host.dispatchEvent(new CustomEvent("error", { detail: error }));
      this.#show();
    }
  }

  #is(attribute) {
    return this.#host.hasAttribute(attribute);
  }

  get #push() {
    return this.#host.getAttribute("mode") === "push";
  }

  get #on() {
    return this.call !== null && this.call.state !== "disconnected" && this.call.state !== "failed";
  }

  // start begins a call, as the button does, and returns it. It returns the present call if there is one.
  start() {
    if (this.#on || this.#is("disabled")) return this.call;
    const of = (name) => this.#host.getAttribute(name) ?? undefined;
    const call = this.#page.connect({
      url: of("server"), key: this.#host.key ?? of("client-secret") ?? of("key"), model: of("model"), instructions: of("instructions"), voice: of("voice"), language: of("language"),
      assets: of("assets"), prediction: of("prediction") !== "off", muted: this.#push || this.#is("muted"), takeBack: this.#is("take-back"),
      duckBy: number(of("duck-by")), volume: number(of("volume")), transport: of("transport"), microphone: of("microphone"), speaker: of("speaker"), tools: this.#host.tools,
      mediaStream: this.#host.mediaStream, turnDetection: this.#push ? { type: "manual" } : undefined,
    });
    this.call = call;
    this.#refused = null;
    this.#lines.clear();
    this.#parts.lines.replaceChildren();
    for (const type of ["state", "transcript", "interrupting", "error", "levels", "metrics"]) {
      call.addEventListener(type, ({ detail }) => {
        if (this.call !== call) return;
        if (type === "levels") this.#level();
        else this.#show();
        this.#host.dispatchEvent(new CustomEvent(type, { detail }));
      });
    }
    this.#show();
    return call;
  }

  // stop ends the call and waits until everything that it held is freed.
  async stop() {
    await this.call?.close();
  }

  #build() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    this.#root.adoptedStyleSheets = [sheet];
    const p = this.#parts;
    p.talk = make("button", { type: "button", className: "talk", part: "talk", on: { click: () => (this.#on ? this.stop() : this.start()), pointerenter: () => this.#preload(), focus: () => this.#preload() } });
    p.state = make("p", { className: "state", part: "state", role: "status" });
    p.hint = make("p", { className: "hint", part: "hint" });
    p.intro = make("slot", { name: "intro" });
    p.lines = make("ol");
    p.log = make("div", { className: "log", part: "transcript", role: "log", tabIndex: 0 }, p.lines);
    p.message = make("span");
    p.remedy = make("span", { className: "hint" });
    p.error = make("div", { className: "error", part: "error", role: "alert" }, make("p", {}, p.message, p.remedy),
      make("button", { type: "button", ariaLabel: "Dismiss", on: { click: () => this.#dismiss() } }, "×"));
    p.mute = make("button", { type: "button", part: "mute", on: { click: () => this.#host.toggleAttribute("muted") } }, "Mute");
    p.hold = make("button", {
      type: "button", className: "hold", part: "hold",
      on: {
        pointerdown: (e) => (p.hold.setPointerCapture(e.pointerId), this.#hold(true)), pointerup: () => this.#hold(false),
        pointercancel: () => this.#hold(false), blur: () => this.#hold(false), contextmenu: (e) => e.preventDefault(),
      },
    }, "Hold to talk");
    p.interrupt = make("button", { type: "button", className: "stop", part: "interrupt", on: { click: () => this.#attempt(() => this.call.interrupt()) } }, "Interrupt");
    p.input = make("input", { type: "text", part: "input", placeholder: "Write a message", ariaLabel: "Message", enterKeyHint: "send", autocomplete: "off" });
    p.send = make("button", { type: "submit", part: "send" }, "Send");
    p.form = make("form", { part: "form", on: { submit: (e) => this.#send(e) } }, p.input, p.send);
    p.tools = make("div", { className: "tools", part: "controls" }, p.hold, p.mute, p.interrupt);
    p.card = make("div", { className: "card", part: "card", role: "group", on: { keydown: (e) => this.#key(e, true), keyup: (e) => this.#key(e, false) } },
      make("div", { className: "head" }, p.talk, make("div", { className: "words" }, p.state, p.hint), make("slot", { name: "actions" })),
      p.intro, p.log, p.error, p.tools, p.form, make("slot"));
    this.#root.append(p.card);
  }

  // A user whose pointer comes to the button is about to press it.
  #preload() {
    if (!this.#is("disabled")) this.#page.preload({ assets: this.#host.getAttribute("assets") ?? undefined }).catch(() => {}); // the call will report it
  }

  #attempt(f) {
    try {
      f();
    } catch {
      // The call has ended, and the state shows it already.
    }
  }

  #send(event) {
    event.preventDefault();
    const { input } = this.#parts;
    const message = input.value.trim();
    if (!message || !this.#on) return;
    this.#attempt(() => {
      this.call.send(message);
      input.value = "";
    });
  }

  // hold opens the microphone while the user holds the button down.
  #hold(down) {
    if (down === this.#held || (down && !this.#on)) return;
    this.#held = down;
    this.#attempt(() => (down ? this.call.startTalking() : this.call.stopTalking()));
    this.#show();
  }

  #key(event, down) {
    const { hold, input } = this.#parts;
    const at = this.#root.activeElement;
    if (event.key === " " && at === hold) {
      event.preventDefault();
      if (!event.repeat) this.#hold(down);
    } else if (!down || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (event.key === "Escape" && this.#on) {
      this.#attempt(() => this.call.interrupt());
    } else if (event.key.toLowerCase() === "m" && at !== input && !this.#push && this.#on) {
      this.#host.toggleAttribute("muted");
    }
  }

  #dismiss() {
    this.#dismissed = this.#error;
    this.#refused = null;
    this.call.dismissError();
    this.#show();
  }

  get #error() {
    return this.#refused ?? this.call?.error ?? this.call?.microphoneError;
  }

  #level() {
    const { microphone, agent } = this.call.levels;
    this.#parts.talk.style.setProperty("--ring", Math.max(microphone, agent).toFixed(2));
  }

  #show() {
    const p = this.#parts;
    const call = this.call;
    const state = call?.state ?? "disconnected";
    const on = this.#on;
    const disabled = this.#is("disabled");
    const open = on && state !== "connecting" && state !== "reconnecting";
    this.#host.setAttribute("state", state);
    p.card.dataset.state = state;
    p.card.toggleAttribute("data-call", on);
    p.card.setAttribute("aria-label", this.#host.getAttribute("label") ?? "Conversation");
    p.log.setAttribute("aria-label", "Transcript");
    let [title, hint] = words[state];
    if (state === "thinking" && call.progress === "loading") [title, hint] = ["Loading the model…", "The first answer takes longer."];
    if (call?.asking) hint = "Allow the microphone in your browser.";
    else if (call?.interrupting) [title, hint] = ["Interrupting?", ""];
    else if (open && call.textOnly) hint = "No microphone: write instead.";
    else if (open && this.#push && state === "listening") hint = "Hold the button, or the space bar, while you speak.";
    else if (open && this.#is("muted")) hint = "Your microphone is off.";
    if (call?.soundBlocked) hint = "Press any button here to hear the agent.";
    text(p.state, title);
    text(p.hint, hint);
    const label = on ? "End" : "Talk";
    if (p.talk.ariaLabel !== label) {
      p.talk.ariaLabel = p.talk.title = label;
      p.talk.replaceChildren(icon(on ? icons.end : icons.talk));
    }
    if (!on) p.talk.style.setProperty("--ring", 0);
    p.talk.disabled = disabled;
    p.tools.hidden = !on;
    p.hold.hidden = !this.#push;
    p.hold.disabled = !open || call.textOnly;
    p.hold.ariaPressed = String(this.#held);
    p.mute.hidden = this.#push;
    p.mute.ariaPressed = String(this.#is("muted"));
    p.mute.disabled = !open || call.textOnly;
    p.interrupt.disabled = !open || (state !== "agent-speaking" && state !== "thinking");
    p.form.hidden = !on;
    p.input.disabled = p.send.disabled = !open;
    const error = this.#error;
    p.error.hidden = !error || error === this.#dismissed;
    if (error) {
      text(p.message, sentence(error.message));
      text(p.remedy, sentence(error.remedy));
    }
    this.#transcript(call?.transcript ?? []);
  }

  #transcript(entries) {
    const { log, lines } = this.#parts;
    log.hidden = entries.length === 0;
    this.#parts.intro.hidden = !log.hidden;
    const end = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    const left = new Set(this.#lines.keys());
    for (const [at, entry] of entries.entries()) {
      left.delete(entry.id);
      let line = this.#lines.get(entry.id);
      if (!line) {
        line = { entry: null, said: make("span"), coming: make("span", { className: "coming" }), note: make("span", { className: "note" }) };
        line.item = make("li", { part: "line" }, make("span", { className: "who" }, this.#host.getAttribute(`${entry.role}-name`) ?? who[entry.role]), line.said, line.coming, line.note);
        line.item.dataset.role = entry.role;
        this.#lines.set(entry.id, line);
      }
      if (lines.children[at] !== line.item) lines.insertBefore(line.item, lines.children[at] ?? null);
      if (line.entry === entry) continue;
      line.entry = entry;
      line.item.toggleAttribute("data-live", entry.live);
      line.item.hidden = !entry.text && !entry.note && !entry.call;
      text(line.said, entry.call ? `${entry.call.name}${entry.call.done ? "" : "…"}` : entry.text.slice(0, entry.heard));
      text(line.coming, entry.call ? "" : coming(entry.text.slice(entry.heard)));
      line.item.ariaBusy = String(entry.live || entry.heard < entry.text.length);
      text(line.note, entry.interrupted ? " — interrupted" : entry.note && ` ${entry.note}`);
    }
    for (const id of left) {
      this.#lines.get(id).item.remove();
      this.#lines.delete(id);
    }
    if (end) log.scrollTop = log.scrollHeight;
  }
}
