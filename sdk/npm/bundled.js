// The script's other files as parts of a page's bundle. The bundler finds them by these imports, so nothing is copied and nothing is configured.

import { compiled, imported } from "./program.js";

const parts = () => imported("the page's bundle", import("./antiphon-embedded.js"));
const scripts = { "antiphon-exec.js": () => import("./antiphon-exec.js"), "antiphon-talk.js": () => import("./antiphon-talk.js") };
let worklet;

// unpacked returns a text in base64 as the Response of what gzip has packed in it.
const unpacked = (text) => {
  const packed = new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
};

// bundled has the functions that folder returns.
export const bundled = {
  program: async () => compiled("the page's bundle", unpacked((await parts()).program)),
  script: (name) => imported(name, scripts[name]()),
  worklet: async () => (worklet ??= URL.createObjectURL(new Blob([(await parts()).worklet], { type: "text/javascript" }))),
};
