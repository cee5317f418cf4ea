// Makes elements, and keeps those that have not changed.

const make = (namespace) => (tag, attributes = {}, ...children) => {
  const [name, ...classes] = tag.split(".");
  const element = namespace ? document.createElementNS(namespace, name) : document.createElement(name);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child || child === 0));
  return element;
};

// h("li.step", { id: "x" }, "text", child) makes an element, and s one of SVG.
export const h = make();
export const s = make("http://www.w3.org/2000/svg");

// fill replaces the children of an element if key has changed.
const keys = new WeakMap();
export const fill = (element, key, children) => {
  const text = JSON.stringify(key);
  if (keys.get(element) === text) return;
  keys.set(element, text);
  element.replaceChildren(...[children()].flat().filter(Boolean));
};

const two = (n) => String(n).padStart(2, "0");

// clock says how long a time is: 1:05, or 1:02:05.
export const clock = (ms) => {
  const all = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
};

// seconds says a time of the call: 12.345 s.
export const seconds = (ms) => `${(ms / 1000).toFixed(3)}\u00a0s`;

// many says how many there are.
export const many = (n, one, more = `${one}s`) => `${n}\u00a0${n === 1 ? one : more}`;
