// The same in a browser, where there are a WebSocket, WebRTC and sound already: `npm run build:test` bundles it.
import { awaitCall, awaitState, Clock, Server } from "antiphon/sdktest";
import { talk } from "../src/talk.js";

const url = "http://sdktest.test";

const said = (call, text) => awaitCall(call, () => call.transcript.some((line) => line.text === text && !line.live), { what: `one that says ${text}` });

// unanswered is a call with a server that never answers, and gives the error's code. It waits a quarter of a minute, which takes no time.
export const unanswered = async () => {
  const clock = new Clock().install();
  const server = new Server({ url, answer: null }).install({ fakes: "all" });
  const call = talk(() => {}, { url });
  await call.ready;
  call.send("is anybody there?");
  await awaitState(call, "thinking");
  await clock.advance(16_000);
  await awaitState(call, "listening");
  const { code } = call.error;
  await call.close();
  await server.close();
  clock.restore();
  return code;
};

// run holds one call with the browser's own sound, and two with nothing of the browser's at all, and gives their transcripts.
export const run = async () => {
  const all = [];
  for (const [fakes, options] of [
    ["missing", { transport: "websocket", microphone: false }],
    ["all", {}],
    ["all", { transport: "websocket" }],
  ]) {
    const server = new Server({ url }).install({ fakes });
    const call = talk(() => {}, { url, ...options });
    await call.ready;
    call.send("hello");
    await said(call, "You said: hello");
    await awaitState(call, "listening");
    server.will({ text: "One, two, three.", hold: true });
    call.send("count to three");
    await awaitState(call, "agent-speaking");
    call.interrupt();
    await server.until(options.transport ? "conversation.item.truncate" : "output_audio_buffer.clear");
    await awaitCall(call, () => call.state === "listening" && call.transcript.at(-1).interrupted, { what: "interrupted" });
    all.push(call.transcript.map(({ role, text, interrupted }) => `${role}: ${interrupted ? "..." : text}`).join(" | "));
    await call.close();
    await server.close();
  }
  return all;
};
