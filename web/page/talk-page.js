// The script of the Talk page: loads the page's program (web/app) and starts it. When the program has stopped, it says so: the program runs
// for as long as the page is open, so an end is a fault, after which nothing on the page answers.

import { folder, load } from "../../sdk/npm/program.js";
import { sourced } from "./record.js";
import { settings } from "./settings.js";
import "./transcript.js";

/* global VERSION */

// stored calls f with the tab's storage. A browser that blocks the storage throws: then the key is asked for again in the next tab.
const stored = (f) => {
  try {
    return f(sessionStorage) ?? "";
  } catch {
    return "";
  }
};

const host = {
  ...settings,
  sourced,
  key: () => stored((storage) => storage.getItem("antiphon-key")),
  keepKey: (key) => stored((storage) => storage.setItem("antiphon-key", key)),
};

const make = (tag, className, ...children) => {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
};

const stopped = (error) => {
  console.error(error);
  const reload = make("button", "control strong", "Reload the page");
  reload.id = "reload";
  reload.addEventListener("click", () => location.reload());
  const box = document.getElementById("error");
  box.dataset.kind = "stopped";
  box.replaceChildren(
    make("div", "problem-text", make("p", "problem-title", "This page has stopped"),
      make("p", "", "A fault in its program ended it, and the call with it. The browser's console says more.")),
    make("div", "remedy", reload),
  );
};

// A browser that can install the page as an app says so. Then the page offers it (#install).
let offer;
const offered = (event) => {
  event?.preventDefault();
  offer = event;
  document.documentElement.toggleAttribute("data-installable", Boolean(event));
};
addEventListener("beforeinstallprompt", offered);
addEventListener("appinstalled", () => offered());
document.addEventListener("click", ({ target }) => {
  if (!offer || !target.closest("#install")) return;
  offer.prompt()?.catch(() => {}); // the user may say no
  offered(); // it can be asked once
});

navigator.serviceWorker?.register("/app-worker.js").catch(() => {}); // the page works without it
load(folder(new URL("/", location.href).href, VERSION), "talk-page.wasm", host).then((program) => {
  program.crash.add(stopped);
  setInterval(program.tidy, 5000);
}, stopped);
