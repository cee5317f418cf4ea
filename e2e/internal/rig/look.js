// Reads everything that the page shows, by the names that package web promises.
(() => {
  const one = (selector) => document.querySelector(selector);
  const text = (selector, within = document) => within.querySelector(selector)?.textContent ?? "";
  return {
    phase: one("#page")?.dataset.state ?? "",
    textOnly: one("#page")?.dataset.textOnly === "true",
    state: text("#state"),
    hint: text("#hint"),
    caption: text("#caption"),
    talk: text("#talk"),
    muted: one("#mute")?.dataset.muted === "true",
    canMute: one("#mute")?.disabled === false,
    canInterrupt: one("#interrupt")?.disabled === false,
    mic: Number(one("#mic-level")?.getAttribute("aria-valuenow") ?? 0),
    latency: Number(one("#latency")?.dataset.ms ?? -1),
    problem: one("#error")?.dataset.kind ?? "",
    problemText: text("#error"),
    remedy: text("#remedy"),
    pipeline: text("#pipeline-name"),
    lines: [...document.querySelectorAll("#transcript > li")].map((li) => ({
      role: li.dataset.role,
      item: li.dataset.item,
      said: text(".said", li),
      coming: text(".coming", li),
      cut: text(".cut", li),
      note: text(".note", li),
      interrupted: li.dataset.interrupted === "true",
      live: li.dataset.live === "true",
    })),
    components: [...document.querySelectorAll("#components > li")].map((li) => ({
      stage: li.dataset.stage,
      state: li.dataset.state,
      text: li.textContent,
      install: text(".install code", li),
    })),
  };
})()
