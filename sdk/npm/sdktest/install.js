// Replaces the network and, where needed, WebRTC and audio with fakes that lead to the test's servers, and undoes that. Requests to other
// addresses go to the real network.

import { Connection } from "./rtc.js";
import { Socket } from "./socket.js";
import { FakeAudioContext, FakeWorkletNode, mediaDevices } from "./sound.js";

const servers = new Set();
const before = []; // { target, name, value, descriptor } of each property that was replaced, in that order
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

// serverOf returns the server with the address's origin, or undefined.
const serverOf = (address) => {
  const origin = address && `${secure[address.protocol] ?? address.protocol}//${address.host}`;
  return [...servers].reverse().find(({ url }) => new URL(url).origin === origin);
};

// sockets returns a WebSocket class that connects to servers of the test, and with real to all others.
const sockets = (real) =>
  new Proxy(real ?? class WebSocket {}, {
    construct(target, [address, protocols], made) {
      const server = serverOf(parsed(address));
      if (server) return new Socket(server, parsed(address), protocols);
      if (!real) throw new DOMException(`there is no network here, and no Server has the address ${address}`, "SecurityError");
      return Reflect.construct(target, [address, protocols], made);
    },
  });

// file reads a file in Node, whose fetch reads none; the package's program is a file there. The module's name is put together so that
// bundlers for browsers do not see it.
const file = async (address) => {
  const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ ["node:fs", "promises"].join("/"));
  const type = address.pathname.endsWith(".wasm") ? "application/wasm" : "text/javascript";
  return new Response(await readFile(new URL(address.pathname, "file:")), { headers: { "Content-Type": type } });
};

// fetches returns a fetch that asks the test's servers, and with real all others.
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

// pending has the timers that were set while there was a server. A Go program leaves a timer when a call is over, and Node would wait
// for that timer before it ends; uninstall tells Node not to.
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

// install makes a server reachable for the page. fakes is "missing" to fake only the objects that the environment does not have, or "all".
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

// uninstall removes a server. With the last one it restores the replaced properties, except those that other code has replaced since.
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
