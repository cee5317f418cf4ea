// The console of calls: asks for an operator's key, and follows the server's calls.

import { card, view } from "./call.js";
import { fill, h } from "./dom.js";
import { stepper } from "./stepper.js";

const $ = (id) => document.getElementById(id);
const api = "/v1/antiphon/console/";
const stored = "antiphon-operator-key";

// A browser that blocks the storage throws: then the key lasts until the page is loaded again.
let key = "";
try {
  key = sessionStorage.getItem(stored) ?? "";
} catch {}
const keep = (value) => {
  key = value;
  try {
    if (value) sessionStorage.setItem(stored, value);
    else sessionStorage.removeItem(stored);
  } catch {}
};

// get asks the API. It throws the error's message; refused says that the key is not an operator's.
const get = async (path, signal) => {
  const answer = await fetch(api + path, { signal, headers: { Authorization: `Bearer ${key}` }, cache: "no-store" });
  if (answer.ok) return answer;
  const text = await answer.json().then(
    ({ error }) => error.message,
    () => `${answer.status} ${answer.statusText}`,
  );
  throw Object.assign(new Error(text), { refused: answer.status === 401 || answer.status === 404, status: answer.status });
};

const detail = view($("call"));
const cards = new Map();
let calls = new Map();
let order = [];
let server = { words: false };
let parts, ahead, following, recorded;
let logbooks = [];

const opened = () => decodeURIComponent(location.hash.slice(1));
const now = () => Date.now() + (ahead ?? 0);

const item = (session) => {
  if (!cards.has(session)) {
    const link = h("a.card", { href: `#${session}` });
    cards.set(session, { link, li: h("li", {}, link) });
  }
  const { link, li } = cards.get(session);
  const call = calls.get(session);
  const children = card(call, now());
  link.toggleAttribute("data-ended", Boolean(call.ended));
  if (session === opened()) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
  fill(link, children.map((one) => one && one.outerHTML), () => children);
  return li;
};

const group = (title, sessions, none) => [
  h("h2", {}, title, h("span.count", {}, String(sessions.length))),
  sessions.length > 0 ? h("ul", {}, sessions.map((session) => cards.get(session).li)) : h("p.faint", {}, none),
];

const recording = (name) => {
  const [at, session] = name.replace(".logbook", "").split("_sess_");
  const [day, time] = at.split("T");
  return h(
    "li",
    {},
    h("a.card", { href: `#${name}`, "data-ended": true, "aria-current": name === opened() && "page" }, h("span.card-name", {}, `${day}, ${time.slice(0, 8).replaceAll("-", ":")} UTC`), h("code.card-what", {}, session)),
  );
};

const list = () =>
  get("logbooks")
    .then((answer) => answer.json())
    .then((names) => ((logbooks = names), paint()))
    .catch(() => {}); // they are read again with the next call

// open shows a logbook if the address names one.
const open = async () => {
  const name = opened();
  if (recorded === name) return;
  recorded = name;
  $("stepper").hidden = !name.endsWith(".logbook");
  if ($("stepper").hidden) return;
  detail.says("The logbook is being read.");
  try {
    const book = await get(`logbooks/${encodeURIComponent(name)}`).then((answer) => answer.json());
    if (name === opened()) stepper($("stepper"), name, book, (call, steps) => detail.show(call, steps, false, now()));
  } catch (error) {
    $("stepper").replaceChildren();
    detail.says(error.message);
  }
};

const paint = () => {
  const known = order.filter((session) => calls.has(session));
  known.forEach(item);
  const live = known.filter((session) => !calls.get(session).ended);
  const ended = known.filter((session) => calls.get(session).ended);
  const focused = document.activeElement;
  fill($("list"), [live, ended, logbooks, opened()], () => [
    ...group("Now", live, "There is no call."),
    ...group("Lately", ended, "No call has ended since the server began."),
    ...(server.logbooks ? [h("h2", {}, "Recorded", h("span.count", {}, String(logbooks.length))), h("ul", {}, logbooks.map(recording))] : []),
  ]);
  if (focused?.isConnected) focused.focus({ preventScroll: true }); // a card that has moved
  $("node").textContent = server.node ? `Calls on ${server.node}` : "Calls";
  $("console").toggleAttribute("data-opened", opened() !== "");
  const call = calls.get(opened());
  if (opened().endsWith(".logbook")) return;
  if (call && parts) detail.show(call, parts, server.words, now());
  else if (opened() === "") detail.says(live.length > 0 ? "Choose a call." : "When somebody calls, you see it here.");
  else if (!call) detail.says("This call is not kept any more.");
};

const take = (update) => {
  server = update.server;
  ahead = Date.parse(server.now) - Date.now();
  if (update.order) {
    order = update.order;
    if (server.logbooks) list();
    calls = new Map([...calls].filter(([session]) => order.includes(session)));
    for (const session of cards.keys()) if (!order.includes(session)) cards.delete(session);
  }
  for (const call of update.calls) calls.set(call.session, call);
  if (update.open) parts = { ...update.open, steps: [...(parts?.steps ?? []), ...update.open.steps].slice(-300) };
  status(server.dropped > 0 ? `live, ${server.dropped} notes lost` : server.words ? "live, with words" : "live, without words", "live");
  paint();
  open();
};

const status = (text, state) => {
  $("console").dataset.state = state;
  if ($("status").textContent !== text) $("status").textContent = text;
};

// read calls take with each event of a stream, until it ends.
const read = async (answer) => {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) if (event.startsWith("data: ")) take(JSON.parse(event.slice(6)));
  }
};

const ask = (why = "") => {
  following?.abort();
  keep("");
  status("", "asking");
  $("key-error").textContent = why;
  [$("ask").hidden, $("desk").hidden, $("leave").hidden] = [false, true, true];
  $("key").focus();
};

// follow reads the stream of the opened call, and begins again when it ends or fails.
const follow = async () => {
  following?.abort();
  const { signal } = (following = new AbortController());
  parts = undefined;
  for (let wait = 1000; !signal.aborted; wait = Math.min(wait * 2, 10000)) {
    try {
      const answer = await get(`events?open=${encodeURIComponent(opened())}`, signal);
      [$("ask").hidden, $("desk").hidden, $("leave").hidden] = [true, false, false];
      [parts, calls, wait] = [undefined, new Map(), 500];
      get("machines", signal).then((tables) => tables.json()).then(detail.draws).catch(() => {}); // the page goes on without diagrams
      await read(answer);
    } catch (error) {
      if (signal.aborted) return;
      if (error.refused || !key) return ask(error.status === 401 ? "This is not an operator’s key." : error.message);
      status(error.status ? error.message : "the server does not answer: trying again", "lost");
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
};

$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keep($("key").value.trim());
  $("key").value = "";
  follow();
});
$("leave").addEventListener("click", () => ask());
addEventListener("hashchange", () => {
  if (!key) return;
  paint();
  open();
  follow();
  if (opened()) $("detail").focus();
});
setInterval(() => !$("desk").hidden && paint(), 1000);

if (key) follow();
else ask();
