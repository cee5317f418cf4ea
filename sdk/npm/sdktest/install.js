import { Connection } from "./rtc.js";
import { Socket } from "./socket.js";
import { FakeAudioContext, FakeWorkletNode, mediaDevices } from "./sound.js";

// Puts servers into the place of the network, and takes them out again. What is not theirs is handed on to what was there before.

const servers = new Set();
const before = []; // { target, name, value, descriptor } of what was replaced, in that order
const node = Boolean(globalThis.process?.versions?.node);

const replace = (target, name, value) => {
  before.push({ target, name, value, descriptor: Object.getOwnPropertyDescriptor(target, name) });
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
};

const parsed = (address) => {
  try {
    return new URL(address, globalThis.location?.href);
  } catch {
    return null;
  }
};

const secure = { "ws:": "http:", "wss:": "https:" };

// serverOf finds the server that an address is one of.
const serverOf = (address) => {
  const origin = address && `${secure[address.protocol] ?? address.protocol}//${address.host}`;
  return [...servers].reverse().find(({ url }) => new URL(url).origin === origin);
};

const sockets = (real) =>
  new Proxy(real ?? class WebSocket {}, {
    construct(target, [address, protocols], made) {
      const server = serverOf(parsed(address));
      if (server) return new Socket(server, parsed(address), protocols);
      if (!real) throw new DOMException(`there is no network here, and no Server has the address ${address}`, "SecurityError");
      return Reflect.construct(target, [address, protocols], made);
    },
  });

// Node fetches no files, and the package's program is one. No bundler for browsers needs to know the module's name.
const file = async (address) => {
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ ["node:fs", "promises"].join("/"));
  const type = address.pathname.endsWith(".wasm") ? "application/wasm" : "text/javascript";
  return new Response(await readFile(new URL(address.pathname, "file:")), { headers: { "Content-Type": type } });
};

const fetches = (real) => async (input, init) => {
  const address = parsed(input?.url ?? input);
  const server = serverOf(address);
  if (server) {
    const { method, body, headers } = { method: "GET", ...(input?.url ? { method: input.method, headers: input.headers, body: await input.clone().text() } : {}), ...init };
    return server.asked({ address, method, body, headers: new Headers(headers) });
  }
  if (address?.protocol === "file:" && node && /\/antiphon[^/]*$/.test(address.pathname)) return file(address);
  return real.call(globalThis, input, init);
};

// A program of Go's leaves a timer behind when a call is over, and Node waits for that before it ends. So those that were set while
// there was a server, and are not due when there is none any more, are not waited for.
const pending = new Set();

const timed = (real) =>
  new Proxy(real, {
    apply(target, self, [f, ms, ...args]) {
      const ring = () => {
        pending.delete(timer);
        f(...args);
      };
      const timer = Reflect.apply(target, self, [ring, ms]);
      pending.add(timer);
      return timer;
    },
  });

const cleared = (real) =>
  new Proxy(real, {
    apply(target, self, [timer]) {
      pending.delete(timer);
      return Reflect.apply(target, self, [timer]);
    },
  });

// install lets a server be called. fakes is "missing" for those of what is not here, and "all" for those of what is, too.
export const install = (server, fakes) => {
  servers.add(server);
  const has = new Set(before.map(({ name }) => name));
  const once = (target, name, value) => has.has(name) || replace(target, name, value);
  const faked = (target, name, value) => (fakes === "all" || !target[name]) && once(target, name, value);
  if (!has.has("fetch")) {
    replace(globalThis, "WebSocket", sockets(globalThis.WebSocket));
    replace(globalThis, "fetch", fetches(globalThis.fetch));
    if (node) {
      replace(globalThis, "setTimeout", timed(globalThis.setTimeout));
      replace(globalThis, "clearTimeout", cleared(globalThis.clearTimeout));
    }
  }
  faked(globalThis, "RTCPeerConnection", Connection);
  faked(globalThis, "AudioContext", FakeAudioContext);
  faked(globalThis, "AudioWorkletNode", FakeWorkletNode);
  if (!globalThis.navigator) once(globalThis, "navigator", {});
  faked(globalThis.navigator, "mediaDevices", mediaDevices);
};

// uninstall puts back what was there, with the last server. What somebody else has replaced meanwhile is theirs.
export const uninstall = (server) => {
  servers.delete(server);
  if (servers.size > 0) return;
  for (const timer of pending) timer.unref?.();
  pending.clear();
  for (const { target, name, value, descriptor } of before.splice(0).reverse()) {
    if (target[name] !== value) continue;
    if (descriptor) Object.defineProperty(target, name, descriptor);
    else delete target[name];
  }
};
