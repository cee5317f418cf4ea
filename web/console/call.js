// One call: facts, who is heard, machines, latency, words, errors and steps.

import { clock, fill, h, many, seconds } from "./dom.js";
import { diagram, score, waterfall } from "./drawing.js";

const section = (id, title, ...children) => h("section.panel", { "aria-labelledby": `${id}-title`, id }, h("h3", { id: `${id}-title` }, title), ...children);
const scrolled = (id, name, list) => h("div.scrolled", { tabindex: 0, role: "region", "aria-label": name }, h(`${list}.${id}`, { id: `${id}-list` }));

// skeleton is what is filled for each call.
const skeleton = () =>
  h(
    "article",
    { "aria-labelledby": "call-title" },
    h("a.back", { href: "#" }, "← All calls"),
    h("h2.title", { id: "call-title" }),
    h("dl.facts", { id: "facts" }),
    section("heard", "Heard in the last minute", h("div", { id: "score" })),
    h(
      "div.pair",
      {},
      h(
        "div",
        {},
        section("machines", "Machines", h("ul.machine-list", { id: "machine-list" }), h("div.drawn", { id: "drawn" })),
        section("latency", "From the end of speech to the first sound", h("p.faint", { id: "no-turns" }, "No turn was answered yet."), h("ol.falls", { id: "falls" })),
      ),
      h(
        "div",
        {},
        section("errors", "Errors", h("ol.errors", { id: "error-list" })),
        section("words", "Words", h("p.faint", { id: "no-words" }), scrolled("transcript", "Words as they were heard", "ol")),
        section("steps", "Transitions, newest first", scrolled("step", "Transitions", "ol")),
      ),
    ),
  );

const fact = (name, value) => value && h("div", {}, h("dt", {}, name), h("dd", {}, value));

const stepItem = (step, begin) =>
  h(
    "li",
    {},
    h("span.step-at", {}, seconds(Date.parse(step.at) - begin)),
    h("span.step-machine", {}, step.machine),
    h("span.step-what", {}, step.from === step.to ? `${step.event}: stays in ${step.to}` : `${step.event}: ${step.from} → ${step.to}`),
    step.effects && h("span.faint", {}, step.effects.join(" · ")),
  );

export const title = (call) => [call.key || "No key", call.transport].filter(Boolean).join(", ");

// view shows calls in a root element. tables are the machines' diagrams, which come once.
export const view = (root) => {
  let shown, chosen, drawnSteps, tables, present;
  const buttons = new Map(); // a button that is replaced while it is pressed gets no click
  const $ = (id) => root.querySelector(`#${id}`);

  const machines = (call, steps) => {
    const list = call.machines.toSorted((a, b) => a.name.localeCompare(b.name));
    chosen = list.some(({ name }) => name === chosen) ? chosen : list.find(({ name }) => name === "turn")?.name ?? list[0]?.name;
    for (const { name, state } of list) {
      if (!buttons.has(name)) {
        const button = h("button", { type: "button", onclick: () => ((chosen = name), machines(...present)) }, h("span", {}, name.replace(".", ".\u200b")), h("span.machine-state"));
        buttons.set(name, button);
      }
      const button = buttons.get(name);
      button.setAttribute("aria-pressed", String(name === chosen));
      if (button.lastChild.textContent !== state) button.lastChild.textContent = state;
    }
    present = [call, steps];
    fill($("machine-list"), list.map(({ name }) => name), () => list.map(({ name }) => h("li", {}, buttons.get(name))));
    const state = list.find(({ name }) => name === chosen)?.state;
    const before = steps.findLast(({ machine }) => machine === chosen)?.from;
    const table = tables?.[chosen?.split(".")[0]];
    fill($("drawn"), [chosen, state, before, Boolean(table)], () => table && diagram(chosen, table, state, before));
  };

  // show brings the page up to date. now is the server's clock.
  const show = (call, parts, words, now) => {
    if (shown !== call.session) {
      [shown, drawnSteps] = [call.session, 0];
      buttons.clear();
      root.replaceChildren(skeleton());
    }
    const begin = Date.parse(call.since);
    const end = call.ended ? Date.parse(call.ended) : now;
    $("call-title").textContent = title(call);
    fill($("facts"), [call.session, call.reason, call.ended, clock(end - begin), call.latency_ms, call.failed], () => [
      fact("Lasts", clock(end - begin)),
      fact("Since", new Date(begin).toLocaleString()),
      fact("Last answer", call.latency_ms >= 0 && `${call.latency_ms}\u00a0ms`),
      fact("Errors", call.failed > 0 && String(call.failed)),
      fact("Ended", call.ended && !parts.recorded && (call.reason || "yes")),
      fact("Call", call.call && h("code", {}, call.call)),
      fact("Session", h("code", {}, call.session)),
    ]);
    const last = parts.steps.at(-1)?.n ?? 0;
    if (last < drawnSteps) [drawnSteps] = [0, $("step-list").replaceChildren()]; // a step back
    for (const id of ["latency", "words"]) $(id).hidden = Boolean(parts.recorded);
    fill($("score"), [last, Math.floor(end / 500)], () => score(parts.steps, end));
    machines(call, parts.steps);
    $("no-turns").hidden = parts.turns.length > 0;
    fill($("falls"), parts.turns, () => waterfall(parts.turns));
    $("errors").hidden = parts.errors.length === 0;
    fill($("error-list"), parts.errors, () =>
      parts.errors.toReversed().map(({ at, code, message }) => h("li", {}, h("code", {}, code), ` at ${seconds(Date.parse(at) - begin)}`, message && h("p.faint", {}, message))),
    );
    const said = parts.lines.filter(({ text }) => text);
    $("no-words").textContent = words ? (said.length > 0 ? "" : "Nobody has said anything yet.") : "Not kept. An operator can switch them on: --console-words.";
    $("transcript-list").parentElement.hidden = said.length === 0;
    fill($("transcript-list"), said, () =>
      said.map(({ who, text, cut }) =>
        h("li.line", { "data-role": who }, h("span.who", {}, who === "user" ? "User" : "Agent"), h("p.words", {}, h("span.said", {}, text), cut && h("span.cut", {}, "interrupted"))),
      ),
    );
    const fresh = parts.steps.filter(({ n }) => n > drawnSteps);
    if (fresh.length > 0) {
      drawnSteps = last;
      $("step-list").prepend(...fresh.toReversed().map((step) => stepItem(step, begin)));
      while ($("step-list").childElementCount > 300) $("step-list").lastElementChild.remove();
    }
  };

  return {
    show,
    draws: (all) => (tables = all),
    // says shows a text in the place of a call.
    says: (...text) => {
      shown = undefined;
      root.replaceChildren(h("div.nothing", {}, h("a.back", { href: "#" }, "← All calls"), ...text.map((line) => h("p", {}, line))));
    },
  };
};

// card is a call in the list.
export const card = (call, now) => {
  const state = (name) => call.machines.find((one) => one.name === name)?.state;
  const light = (name, on) => h(`i.${name}`, { "data-on": String(Boolean(on)) });
  const speaks = ["Candidate", "Speaking", "Confirming"].includes(state("turn"));
  const sounds = state("playout") === "Playing";
  const end = call.ended ? Date.parse(call.ended) : now;
  const does = call.ended ? call.reason || "ended" : speaks ? (sounds ? "both speak" : "user speaks") : sounds ? "agent speaks" : state("conn") === "Live" ? "quiet" : (state("conn") ?? "begins");
  return [
    h("span.card-name", {}, call.key || "No key"),
    h("span.card-time", {}, clock(end - Date.parse(call.since))),
    h("span.card-what", {}, !call.ended && h("span.lights", { "aria-hidden": "true" }, light("you", speaks), light("agent", sounds)), `${call.transport}, ${does}`),
    call.failed > 0 && h("span.card-failed", {}, many(call.failed, "error")),
  ];
};
