// @antiphon/react with a server of sdktest, in Node: which components render again, and what is left of a call.
import { awaitState, Server } from "antiphon/sdktest";
import assert from "node:assert/strict";
import test, { after } from "node:test";

// A server imports the package where there is no document.
const { AntiphonProvider, LevelBar, TalkButton, Transcript, useCall, useCallState, useMicrophone, useRuns, useTool, useTranscript } = await import("@antiphon/react");
const { createElement: h, StrictMode, useState, act } = await import("react");
const { renderToString } = await import("react-dom/server");
const app = (...children) => h(AntiphonProvider, { server: "http://antiphon.test" }, ...children);
const markup = renderToString(app(h(TalkButton), h(Transcript), h(LevelBar)));

const { JSDOM } = await import("jsdom");
const { window } = new JSDOM("<!doctype html><div id=root></div>", { pretendToBeVisual: true });
const { document, navigator, requestAnimationFrame, cancelAnimationFrame } = window;
Object.assign(globalThis, { window, document, navigator, requestAnimationFrame, cancelAnimationFrame, IS_REACT_ACT_ENVIRONMENT: true });
const { createRoot } = await import("react-dom/client");
after(() => window.close());

const start = { transport: "websocket", microphone: false };

// shown renders elements until the end of the test, with a server.
const shown = async (t, element, options) => {
  const server = new Server({ url: "http://antiphon.test", ...options }).install();
  const at = document.body.appendChild(document.createElement("div"));
  const root = createRoot(at);
  await act(() => root.render(element));
  let mounted = true;
  const unmount = async () => {
    if (mounted) await act(() => root.unmount());
    mounted = false;
    await new Promise((passed) => setTimeout(passed));
  };
  t.after(async () => {
    await unmount();
    await server.close();
  });
  return { server, at, unmount, render: (next) => act(() => root.render(next)) };
};

test("the markup of a server", () => {
  assert.match(markup, /<button type="button" data-state="disconnected" aria-pressed="false">Talk<\/button>/);
  assert.match(markup, /role="meter"/);
});

test("each hook renders its component for its own part alone", async (t) => {
  const renders = { state: 0, transcript: 0, microphone: 0, runs: 0, call: 0 };
  const now = {};
  const reader = (name, hook) => () => {
    renders[name]++;
    now[name] = hook();
    return null;
  };
  const readers = Object.entries({ state: useCallState, transcript: useTranscript, microphone: useMicrophone, runs: useRuns, call: useCall });
  const { server, unmount } = await shown(t, h(StrictMode, null, app(...readers.map(([name, hook]) => h(reader(name, hook), { key: name })))));
  const actions = now.call;
  let call;
  await act(async () => {
    call = actions.start(start);
    await call.ready;
  });
  assert.equal(actions.start(start), call, "there is one call at a time");
  assert.equal(now.state.state, "listening");
  const before = { ...renders };
  await act(async () => {
    actions.send("hello");
    await server.expect("conversation.item.create", { item: { content: [{ text: "hello" }] } });
    await awaitState(call, "agent-speaking");
  });
  assert.match(now.transcript.at(-1).text, /^You said/);
  assert.ok(renders.state > before.state && renders.transcript > before.transcript);
  assert.deepEqual([renders.call, renders.microphone, renders.runs], [before.call, before.microphone, before.runs]);

  await act(() => now.microphone.setMuted(true));
  assert.equal(now.microphone.muted, true);
  assert.equal(call.muted, true);
  await act(async () => {
    await actions.stop();
  });
  assert.deepEqual([now.state.state, now.state.error, now.transcript, now.runs], ["disconnected", null, [], []]);
  assert.equal(now.microphone.muted, true, "it stays as the user wants it");
  assert.equal(now.call, actions);
  let second;
  await act(async () => {
    second = actions.start(start);
    await second.ready;
  });
  assert.notEqual(second, call);
  assert.equal(second.muted, true);
  await unmount();
  await awaitState(second, "disconnected");
});

test("a tool runs its newest function, and goes with its component", async (t) => {
  let count, call;
  const Tool = () => {
    const [n, set] = useState(1);
    count = set;
    useTool("count", { type: "object" }, () => `it is ${n}`);
    return null;
  };
  const Caller = () => ((call = useCall()), null);
  const { server, render } = await shown(t, h(StrictMode, null, app(h(Caller), h(Tool, { key: "tool" }))));
  await act(() => count(2));
  let placed;
  await act(async () => {
    placed = call.start(start);
    await placed.ready;
    server.will({ calls: [{ name: "count" }] });
    call.send("count");
    await server.until("conversation.item.create", { item: { type: "function_call_output", output: "it is 2" } });
  });
  await render(h(StrictMode, null, app(h(Caller))));
  await act(async () => {
    await awaitState(placed, "listening");
    server.will({ calls: [{ name: "count" }] });
    call.send("again");
    await server.until("conversation.item.create", { item: { type: "function_call_output", output: /no tool count any more/ } });
    await placed.close();
  });
});

test("the application may keep whether the microphone is muted", async (t) => {
  const wishes = [];
  let microphone, call;
  const Reader = () => ((microphone = useMicrophone()), (call = useCall()), null);
  const page = (muted) => h(AntiphonProvider, { server: "http://antiphon.test", muted, onMutedChange: (wish) => wishes.push(wish) }, h(Reader));
  const { render } = await shown(t, page(true));
  assert.equal(microphone.muted, true);
  await act(() => microphone.setMuted(false));
  assert.deepEqual([wishes, microphone.muted], [[false], true]);
  await render(page(false));
  assert.equal(microphone.muted, false);
  assert.throws(() => call.send("hello"), { code: "not_connected" });
});

test("a call that fails leaves its error, until the next one", async (t) => {
  let state, call;
  const Reader = () => ((state = useCallState()), (call = useCall()), null);
  const { server } = await shown(t, app(h(Reader)));
  await act(async () => {
    const placed = call.start({ ...start, volume: 7 });
    await assert.rejects(placed.ready);
    await placed.close();
  });
  assert.deepEqual([state.state, state.error.code], ["failed", "invalid"]);
  await act(async () => {
    await call.start(start).ready;
  });
  assert.deepEqual([state.state, state.error], ["listening", null]);
  await act(() => call.stop());
  assert.ok(server);
});

test("a hook outside of a provider says what is missing", () => {
  assert.throws(() => renderToString(h(TalkButton)), /AntiphonProvider/);
});
