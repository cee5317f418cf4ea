// A recorded call, stepped through: the state of its machines at each moment.

import { h, seconds } from "./dom.js";

// stepper fills root with the controls of a logbook, and calls show with a call and its transitions as they were at the chosen moment.
export const stepper = (root, name, { since, version, end, moments }, show) => {
  const begin = Date.parse(since);
  const says = h("p", { id: "moment", role: "status" });
  const why = h("p.faint", {}, `Recorded by antiphon ${version}. It ends because ${end}. It has no words here: antiphon replay tells them.`);
  const slider = h("input", { type: "range", min: 1, max: Math.max(1, moments.length), value: 1, "aria-label": "Moment of the call", oninput: () => go() });
  const move = (by) => () => ((slider.value = Number(slider.value) + by), go());
  const button = (text, by) => h("button.tool", { type: "button", onclick: move(by) }, text);
  const go = () => {
    const at = Number(slider.value);
    const moment = moments[at - 1];
    if (!moment) return;
    const steps = moments.slice(0, at).flatMap((one) => one.steps);
    const machines = new Map(steps.map((step) => [step.machine, { name: step.machine, state: step.to }]));
    says.textContent = `${at} of ${moments.length}, at ${seconds(Date.parse(moment.at) - begin)}: ${moment.came}` + (moment.sends.length > 0 ? ` sends ${moment.sends.join(", ")}` : "");
    show(
      { session: name, call: "", key: "Recorded call", since, ended: moment.at, machines: [...machines.values()], latency_ms: -1, failed: 0 },
      { steps: steps.slice(-300), turns: [], lines: [], errors: [], recorded: true },
    );
  };
  root.replaceChildren(h("div.stepping", {}, button("← Back", -1), slider, button("Forward →", 1)), says, why);
  go();
};
