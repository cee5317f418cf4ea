// @antiphon/vue with a server of sdktest, in Node.
import { awaitState, Server } from "antiphon/sdktest";
import assert from "node:assert/strict";
import test, { after } from "node:test";

const { JSDOM } = await import("jsdom");
const { window } = new JSDOM("<!doctype html>", { pretendToBeVisual: true });
const { document, navigator, Element, SVGElement, MathMLElement } = window;
Object.assign(globalThis, { window, document, navigator, Element, SVGElement, MathMLElement });
const { AntiphonProvider, useCall, useCallState, useMicrophone, useTool, useTranscript } = await import("@antiphon/vue");
const { createApp, defineComponent, h, nextTick, ref } = await import("vue");
const app = (props, ...children) => h(AntiphonProvider, { server: "http://antiphon.test", ...props }, () => children);
after(() => window.close());

test("a call in Vue, from its begin to its end", async (t) => {
  const server = new Server({ url: "http://antiphon.test" }).install();
  t.after(() => server.close());
  const muted = ref(false);
  const there = ref(true);
  const renders = { state: 0, transcript: 0 };
  let call, state, microphone;
  const State = defineComponent(() => {
    state = useCallState();
    return () => (renders.state++, state.value.state);
  });
  const Words = defineComponent(() => {
    const transcript = useTranscript();
    return () => (renders.transcript++, transcript.value.map(({ text }) => text).join(" | "));
  });
  const Main = defineComponent(() => {
    call = useCall();
    microphone = useMicrophone();
    return () => null;
  });
  const Tool = defineComponent(() => {
    useTool("clock", { type: "object" }, () => "noon");
    return () => null;
  });
  const at = document.body.appendChild(document.createElement("div"));
  const root = createApp(() => app({ muted: muted.value, "onUpdate:muted": (wish) => (muted.value = wish) }, h(State), h(Words), h(Main), there.value ? h(Tool) : null));
  root.mount(at);
  const placed = call.start({ transport: "websocket", microphone: false });
  await placed.ready;
  await nextTick();
  assert.equal(state.value.state, "listening");
  const before = { ...renders };
  microphone.setMuted(true);
  await nextTick();
  await nextTick();
  assert.deepEqual([muted.value, microphone.microphone.value.muted, placed.muted], [true, true, true]);
  assert.deepEqual(renders, before);
  server.will({ calls: [{ name: "clock" }] });
  call.send("the time");
  await server.until("conversation.item.create", { item: { type: "function_call_output", output: "noon" } });
  await awaitState(placed, "agent-speaking");
  await nextTick();
  assert.match(at.textContent, /the time/);
  there.value = false;
  await nextTick();
  await call.stop();
  await nextTick();
  assert.equal(at.textContent, "disconnected");
  const second = call.start({ transport: "websocket", microphone: false });
  await second.ready;
  root.unmount();
  await awaitState(second, "disconnected");
});
