// Loads the program (Go, compiled to WebAssembly) once for all calls of the page, and starts it.

import * as begin from "./begin.js";
import { failure } from "./errors.js";

// fetched fetches and compiles the program.
const fetched = async (address) => {
  const response = await fetch(address).catch((cause) => {
    throw failure("wasm_unreachable", `${address} cannot be loaded`, "check the address, and connect-src of the page's Content-Security-Policy", cause);
  });
  if (!response.ok) {
    throw failure("wasm_unreachable", `${address} is not there (status ${response.status})`, "serve the package's files, or name their folder in the option assets");
  }
  return compiled(address, response);
};

// compiled compiles the program that a Response from that address has.
export const compiled = async (address, response) => {
  try {
    const streams = WebAssembly.compileStreaming && response.headers.get("Content-Type")?.startsWith("application/wasm");
    return await (streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer()));
  } catch (cause) {
    if (/unsafe-eval|content security|csp/i.test(cause.message)) {
      throw failure("wasm_blocked", "the page does not let WebAssembly run", "add 'wasm-unsafe-eval' to script-src of the page's Content-Security-Policy", cause);
    }
    throw failure("wasm_failed", `${address} cannot be run`, "use a current browser, and serve the files of one version", cause);
  }
};

// imported waits for another of the script's files and returns the module.
export const imported = (address, module) =>
  module.catch((cause) => {
    throw failure("script_blocked", `${address} cannot be loaded`, "serve it beside antiphon.js, or name its folder in the option assets; and allow it in script-src of the page's Content-Security-Policy", cause);
  });

// folder returns the script's other files in the folder of that address: program compiles a program, script imports a module, and worklet gives the address of the worklet.
export const folder = (at, version) => ({
  program: (name) => fetched(`${at}${name}?v=${version}`),
  script: (name) => imported(at + name, import(`${at}${name}?v=${version}`)),
  worklet: async () => `${at}antiphon-worklet.js`,
});

// sweep frees the browser's objects that a TinyGo program does not hold any more, because TinyGo runs no finalizers. It finds the
// objects that are held in the program's memory, where a reference is the bits of a NaN with the object's number.
const sweep = (go) => {
  const words = new Uint32Array(go._inst.exports.memory.buffer);
  const held = new Set();
  for (let i = 1; i < words.length; i++) if ((words[i] & ~7) === 0x7ff80000) held.add(words[i - 1]);
  for (let id = 7; id < go._values.length; id++) {
    if (held.has(id) || !go._goRefCounts[id]) continue;
    go._ids.delete(go._values[id]);
    go._values[id] = null;
    go._goRefCounts[id] = 0;
    go._idPool.push(BigInt(id));
  }
};

// run starts the compiled program and returns its handle, which the program completes with connect and usage.
const run = (go, instance, shims, host) => {
  const program = { go, ended: false, crash: new Set() };
  // Go needs these global names while it starts. A page that has such names of its own keeps them.
  const lent = Object.keys(shims).filter((name) => name !== "Go" && !(name in globalThis));
  for (const name of lent) globalThis[name] = shims[name];
  globalThis.antiphonHost = { ...host, ...begin, ready: (connect, usage) => Object.assign(program, { connect, usage }) };
  go.run(instance).finally(() => {
    program.ended = true;
    for (const fail of program.crash) fail(failure("crashed", "the page's voice program has stopped", "call again"));
  });
  for (const name of [...lent, "antiphonHost"]) delete globalThis[name];
  let limit = 2000;
  // tidy sweeps when the number of objects has doubled. Call it only while the program is not running.
  program.tidy = () => {
    if (!instance.exports.go_scheduler || program.ended || go._values.length - go._idPool.length < limit) return;
    sweep(go);
    limit = 2 * (go._values.length - go._idPool.length) + 2000;
  };
  return program;
};

// load loads a program of the files and starts it, with more functions in its host object. The script of the Talk page loads its own program in this way.
export const load = async (files, name = "antiphon.wasm", more = {}) => {
  if (typeof WebAssembly !== "object") {
    throw failure("unsupported", "this browser has no WebAssembly", "use a current Chrome, Edge, Firefox or Safari");
  }
  const [module, { Go, shims, host }] = await Promise.all([files.program(name), files.script("antiphon-exec.js")]);
  const go = new Go();
  return run(go, await WebAssembly.instantiate(module, go.importObject), shims, { ...host, ...more });
};

let loading, loaded;

// program returns the page's one program. It loads it again if it could not be loaded or has ended.
export const program = (files) => {
  if (loaded?.ended) loading = loaded = undefined;
  loading ??= load(files).then(
    (p) => (loaded = p),
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
};

// usage returns what the program holds: functions, handles, and memory in bytes. Tests use it to find leaks.
export const usage = () => ({
  functions: loaded?.usage() ?? 0,
  handles: loaded ? loaded.go._values.length - loaded.go._idPool.length : 0,
  memory: (loaded?.go._inst.exports.mem ?? loaded?.go._inst.exports.memory)?.buffer.byteLength ?? 0,
});
