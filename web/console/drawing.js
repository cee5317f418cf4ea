// The drawings: who speaks, where the time of an answer went, and the states of a machine.

import { h, s } from "./dom.js";

const speaks = { Candidate: "maybe", Speaking: "yes", Confirming: "yes" };
const sounds = { Playing: "yes" };

// runs returns when one side was heard: [from, to, kind].
const runs = (steps, machine, kinds, other, end) => {
  const all = [];
  let from, kind;
  for (const step of steps.filter((one) => one.machine === machine)) {
    const at = Date.parse(step.at);
    if (kind) all.push([from, at, kind]);
    [from, kind] = [at, kinds[step.to] ?? other(step.to)];
  }
  if (kind) all.push([from, end, kind]);
  return all;
};

const span = 60000;

// score draws the last minute before end as two voices: the user's above, the agent's below. Held audio is pale, as is a candidate.
export const score = (steps, end) => {
  const [from, width] = [end - span, 600];
  const x = (at) => (Math.max(0, at - from) / span) * width;
  const voice = (y, name, all) =>
    all
      .filter(([, to]) => to > from)
      .map(([at, to, kind]) => s(`rect.${name}.${kind}`, { x: x(at).toFixed(1), y, width: Math.max(2, x(to) - x(at)).toFixed(1), height: 12 }));
  return s(
    "svg.heard",
    { viewBox: `0 0 ${width} 56`, preserveAspectRatio: "none", role: "img", "aria-label": "Who was heard in the last minute: the user above, the agent below" },
    [10, 20, 38, 48].map((y) => s("path.staff", { d: `M0 ${y}h${width}` })),
    voice(9, "you", runs(steps, "turn", speaks, () => undefined, end)),
    voice(37, "agent", runs(steps, "playout", sounds, (state) => (["Silent", "Terminated"].includes(state) ? undefined : "maybe"), end)),
  );
};

const parts = [
  ["commit", "wait"],
  ["transcript", "recognition"],
  ["first_token", "answer"],
  ["first_audio", "voice"],
  ["first_packet", "network"],
];

// shares returns the parts of the time between the end of the user's speech and the first sound: [name, from, length].
const shares = (turn) => {
  let at = 0;
  return parts.flatMap(([field, name]) => {
    if (turn[field] <= at) return [];
    const one = [name, at, turn[field] - at];
    at = turn[field];
    return [one];
  });
};

const total = (turn) => Math.max(0, ...parts.map(([field]) => turn[field]));

// waterfall draws where the time of each answer went, newest first.
export const waterfall = (turns) => {
  const longest = Math.max(1, ...turns.map(total));
  const permille = (ms) => Math.round((ms * 1000) / longest);
  return turns.toReversed().map((turn) => {
    const all = shares(turn);
    return h(
      "li",
      {},
      h("span", {}, new Date(turn.at).toLocaleTimeString()),
      h("span.bar-ms", {}, `${total(turn)}\u00a0ms`),
      s(
        "svg.fall",
        { viewBox: "0 0 1000 25", preserveAspectRatio: "none", "aria-hidden": "true" },
        all.map(([name, from, ms], i) => s(`rect.part-${name}`, { x: permille(from), y: i * 5, width: Math.max(4, permille(ms)), height: 5 })),
      ),
      h("span.faint", {}, all.map(([name, , ms]) => `${name}\u00a0${ms}`).join(" · ") + (turn.ahead > 0 ? ` · begun ${turn.ahead}\u00a0ms ahead` : "")),
    );
  });
};

const [row, pill, middle] = [38, 132, 150];

// arc draws an arrow between two states of a column: downwards on the right, upwards on the left.
const arc = (from, to, events, taken) => {
  const [a, b, side] = [from * row + 19, to * row + 19, to > from ? 1 : -1];
  const [edge, far] = [middle + (side * pill) / 2, middle + side * (pill / 2 + 10 + Math.abs(to - from) * 13)];
  const [start, end] = [a + side * 5, b - side * 5];
  return s(
    taken ? "g.arrow.taken" : "g.arrow",
    {},
    s("title", {}, events.join(", ")),
    s("path", { d: `M${edge} ${start}C${far} ${start} ${far} ${end} ${edge} ${end}` }),
    s("path.head", { d: `M${edge} ${end}l${side * 7} -4v8z` }),
  );
};

// diagram draws a machine with its present state and the arrow that led to it, and lists what may happen next.
export const diagram = (name, { states, arrows }, present, before) => {
  const place = (state) => states.indexOf(state);
  const out = arrows.filter((one) => one.from === present);
  return [
    s(
      "svg.diagram",
      { viewBox: `0 0 300 ${states.length * row}`, role: "img", "aria-label": `The machine ${name} is in the state ${present}` },
      arrows
        .map((one) => ({ ...one, taken: one.from === before && one.to === present }))
        .sort((a, b) => a.taken - b.taken) // the last one is drawn on top
        .map(({ from, to, events, taken }) => arc(place(from), place(to), events, taken)),
      states.map((state, i) =>
        s(
          state === present ? "g.state.present" : "g.state",
          {},
          s("rect", { x: middle - pill / 2, y: i * row + 6, width: pill, height: 26, rx: 13 }),
          s("text", { x: middle, y: i * row + 24, "text-anchor": "middle" }, state),
        ),
      ),
    ),
    h(
      "div",
      {},
      h("h4", {}, `From ${present}`),
      out.length > 0
        ? h("ul.ways", {}, out.map(({ to, events }) => h("li", {}, h("span", {}, events.join(", ")), h("strong", {}, ` → ${to}`))))
        : h("p.faint", {}, "It stays there."),
    ),
  ];
};
