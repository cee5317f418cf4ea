// The documents: the search, the links to headings, and the buttons that copy code.

const form = document.getElementById("search");
const field = form.elements.words;
const count = document.getElementById("count");
const found = document.getElementById("found");
const most = 20; // results shown
const around = 70; // characters shown before and after a word

let index; // a promise of the sections
const load = async () => {
  const answer = await fetch(form.dataset.index);
  if (!answer.ok) throw new Error(answer.statusText);
  return (await answer.json()).map((s) => ({ ...s, head: s.heading.toLowerCase(), title: s.page.toLowerCase(), low: s.text.toLowerCase() }));
};

// rank is 0 for a section without one of the words. A word in a heading counts more than one in the text.
const rank = (s, words) => {
  const points = words.map((word) => 8 * s.head.includes(word) + 4 * s.title.includes(word) + s.low.includes(word));
  return points.every(Boolean) && points.reduce((sum, n) => sum + n, 0);
};

const element = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text }, more);

const result = (s, words) => {
  const at = Math.max(0, s.low.indexOf(words.find((word) => s.low.includes(word)) ?? "") - around);
  const line = element("li", "");
  const title = s.heading === s.page ? s.page : `${s.page}: ${s.heading}`;
  line.append(element("a", title, { href: s.address }), element("p", `…${s.text.slice(at, at + 2 * around)}…`));
  return line;
};

const search = async () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  try {
    const ranked = (await (index ??= load())).map((s) => [words.length && rank(s, words), s]).filter(([points]) => points);
    const best = ranked.sort(([a], [b]) => b - a).slice(0, most);
    found.replaceChildren(...best.map(([, s]) => result(s, words)));
    count.textContent = best.length ? `${best.length} found` : words.length ? "Nothing found. Try fewer or other words." : "";
  } catch {
    index = undefined;
    count.textContent = "The search could not be loaded. Is the server still there?";
  }
};

form.hidden = false;
form.addEventListener("input", search);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});

for (const heading of document.querySelectorAll("article :is(h2, h3)[id]"))
  heading.append(" ", element("a", "#", { href: `#${heading.id}`, className: "anchor", ariaLabel: `Link to: ${heading.textContent}` }));

// A page that does not come by HTTPS or from this machine has no clipboard.
for (const code of document.querySelectorAll(navigator.clipboard ? "pre > code" : "none")) {
  const copy = element("button", "Copy", { type: "button" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    copy.textContent = "Copied";
  });
  code.parentElement.after(copy);
}

if (document.getElementById("missing")) {
  field.value = location.pathname.replace(/^\/docs\/|\.\w+$/g, "").replace(/[^\p{L}\d]+/gu, " ").trim();
  search();
}
