// The drawer of settings (web/drawer.html) and push-to-talk. The browser remembers what the user has chosen.

const stored = "antiphon-settings";
const form = document.getElementById("settings-form");
const names = ["voice", "language", "instructions", "turns", "eagerness", "noise", "duck"];
let program = { change() {}, hold() {} };
let held = false;

// only lets the user choose an eagerness where it has a meaning.
const only = () => (form.elements.eagerness.disabled = form.elements.turns.value !== "words");

// A browser that blocks the storage throws, and then forgets the settings. A value that the drawer does not offer any more leaves its field as it was.
try {
  const kept = JSON.parse(localStorage.getItem(stored)) ?? {};
  for (const name of names) {
    const field = form.elements[name];
    const before = field.value;
    if (typeof kept[name] === "string") field.value = kept[name];
    if (field.selectedIndex < 0) field.value = before;
  }
} catch {}
only();

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", () => {
  only();
  try {
    localStorage.setItem(stored, JSON.stringify(Object.fromEntries(new FormData(form))));
  } catch {}
  program.change();
});

const hold = (down) => {
  if (down === held) return;
  held = down;
  program.hold(down);
};
const button = () => document.querySelector("#hold:enabled");
addEventListener("pointerdown", (event) => {
  if (!event.target.closest("#hold:enabled")) return;
  event.target.closest("#hold").setPointerCapture(event.pointerId);
  hold(true);
});
for (const kind of ["pointerup", "pointercancel", "blur"]) addEventListener(kind, () => hold(false));
// A click without a pointer, such as that of a screen reader or of Enter, begins a turn, and the next one ends it.
addEventListener("click", (event) => event.detail === 0 && event.target.closest("#hold:enabled") && hold(!held));
for (const kind of ["keydown", "keyup"]) {
  addEventListener(kind, (event) => {
    if (event.key !== " " || !button() || event.target.closest("input, textarea, select, summary, [popover], button:not(#hold)")) return;
    event.preventDefault();
    hold(kind === "keydown");
  });
}

const value = ({ disabled, value }) => (disabled ? "" : value.trim());

// settings is for the program: settings has the values in the order of names, the last one as a number, and listen tells of a change and of the button.
export const settings = {
  settings: () => names.map((name) => (name === "duck" ? Number : String)(value(form.elements[name]))),
  listen: (change, hold) => (program = { change, hold }),
};
