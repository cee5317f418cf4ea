// smoke.mjs FOLDER [PROGRAM]: run the program of an npm package, or another one in its place, under Node, against a page that is
// made up. It has to start, place a call, take the server's events in, send its own, run tools, be interrupted, answer with
// snapshots, and let everything go.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const folder = resolve(process.argv[2]);
const { Go, shims, host: browser } = await import(pathToFileURL(`${folder}/antiphon-exec.js`));
const patience = AbortSignal.timeout(20_000);

// eventually waits for what must come.
const eventually = async (what, holds) => {
  while (!holds()) {
    assert(!patience.aborted, `${folder}: ${what}`);
    await new Promise((next) => setTimeout(next, 5));
  }
};

// The page: as much of a browser as a call without a microphone asks for.
const nothing = () => {};
globalThis.document = Object.assign(new EventTarget(), { createElement: () => Object.assign(new EventTarget(), { play: async () => {}, pause: nothing, remove: nothing }), visibilityState: "visible" });
globalThis.RTCPeerConnection = class extends EventTarget {};
globalThis.addEventListener ??= nothing;
globalThis.removeEventListener ??= nothing;

const sent = [];
const channel = Object.assign(new EventTarget(), { readyState: "open", bufferedAmount: 0, send: (text) => sent.push(JSON.parse(text)), close: nothing });
const connection = Object.assign(new EventTarget(), { connectionState: "connected", iceConnectionState: "connected", close: nothing, getSenders: () => [], getReceivers: () => [], getTransceivers: () => [] });
const answer = { ok: true, status: 201, headers: new Headers({ "Antiphon-Version": "smoke", Location: "/v1/realtime/calls/rtc_1" }), text: async () => "v=0" };
const begun = {
  connection, channel, sender: { replaceTrack: async () => {} }, track: null, stream: null, release: nothing,
  answer: Promise.resolve(answer), applied: Promise.resolve(),
  messages: [JSON.stringify({ type: "session.created", event_id: "e1", session: { id: "sess_1", type: "realtime", model: "smoke" } })],
};

const host = {};
for (const name of Object.keys(shims)) if (name !== "Go" && !(name in globalThis)) globalThis[name] = shims[name];
globalThis.antiphonHost = { ...browser, ready: (connect, usage) => Object.assign(host, { connect, usage }) };
const go = new Go();
const { instance } = await WebAssembly.instantiate(await readFile(process.argv[3] ?? `${folder}/antiphon.wasm`), go.importObject);
let ended = false;
go.run(instance).finally(() => (ended = true));
await eventually("the program registers what the script calls", () => host.connect);

const told = [];
const audio = globalThis.document.createElement("audio");
const command = host.connect({ url: "http://localhost:1", microphone: false, worklet: "", audio, tools: [{ name: "add" }] }, begun, (...args) => told.push(args));
assert.equal(typeof command, "function", `${folder}: a call begins, and no error: ${command}`);
const of = (kind) => told.filter(([k]) => k === kind);
const snapshot = () => Object.assign({}, ...of("snapshot").map(([, text]) => JSON.parse(text)));

await eventually("the call stands", () => of("ready").length);
assert.equal(of("ready")[0][2], undefined, `${folder}: the call stands, and no error`);
assert(sent.some(({ type }) => type === "antiphon.hello"), `${folder}: an Antiphon is greeted`);

assert.equal(command("send", "What is two plus two?") ?? "", "");
await eventually("a message is sent", () => sent.some(({ type }) => type === "conversation.item.create"));
const say = (event) => channel.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify({ event_id: "e", ...event }) }));
const item = { id: "item_1", type: "message", role: "assistant", status: "in_progress", content: [] };
say({ type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } });
say({ type: "response.output_item.added", response_id: "resp_1", output_index: 0, item });
const part = { response_id: "resp_1", item_id: "item_1", output_index: 0, content_index: 0 };
say({ type: "response.output_text.delta", ...part, delta: "Four." });
say({ type: "response.done", response: { id: "resp_1", status: "completed", output: [] } });
await eventually("the answer is in the transcript", () => JSON.stringify(of("snapshot")).includes("Four."));
assert.equal(snapshot().sessionId, "sess_1");

// Tools wait for the page; one of them still does when the call ends.
const calls = (id) => {
  const called = { id: `item_${id}`, type: "function_call", call_id: id, name: "add", arguments: "{}", status: "completed" };
  say({ type: "response.created", response: { id: `resp_${id}`, status: "in_progress", output: [] } });
  say({ type: "response.output_item.done", response_id: `resp_${id}`, output_index: 0, item: called });
  say({ type: "response.done", response: { id: `resp_${id}`, status: "completed", output: [called] } });
};
calls("call_1");
await eventually("a tool is run", () => of("tool").length === 1);
assert.equal(command("tool", of("tool")[0][1], "four", false) ?? "", "");
await eventually("the tool's answer is sent", () => sent.some(({ item: i }) => i?.type === "function_call_output" && i.output === "four"));
await eventually("the answer to it is asked for", () => sent.filter(({ type }) => type === "response.create").length === 2);
calls("call_2");
await eventually("a tool is run again", () => of("tool").length === 2);

// Somebody interrupts, in words and by hand.
say({ type: "output_audio_buffer.started", response_id: "resp_call_2" });
say({ type: "input_audio_buffer.speech_started", item_id: "item_2", audio_start_ms: 0 });
say({ type: "output_audio_buffer.cleared", response_id: "resp_call_2" });
say({ type: "antiphon.barge_in.rejected", candidate: 1 });
await eventually("the person is heard", () => snapshot().state === "user-speaking");
command("interrupt");
command("mute", true);
assert(JSON.parse(command("inspect")).last.length > 0);
say({ type: "conversation.item.input_audio_transcription.completed", item_id: "item_2", content_index: 0, transcript: "And three?" });
await eventually("the person's words are shown", () => JSON.stringify(of("snapshot")).includes("And three?"));

// The agent begins work in the background, which asks the user.
say({ type: "antiphon.run.message", run_id: "run_1", tool: "book", message: { seq: 1, ts: "12:00", type: "interaction.requested", data: { interaction_id: "ia_1", kind: "approval", prompt: "Book?" } } });
await eventually("the run is shown", () => snapshot().runs?.[0]?.question?.prompt === "Book?");
command("approve", "run_1", "ia_1", true);
await eventually("the approval is sent", () => sent.some(({ type, approve }) => type === "antiphon.run.reply" && approve === true));
command("cancel", "run_1");
await eventually("the end of the run is asked for", () => sent.some(({ type, run_id }) => type === "antiphon.run.cancel" && run_id === "run_1"));

// What takes its time is answered, also when it fails.
for (const [token, name] of ["devices", "microphone", "speaker"].entries()) {
  command(name, token, "one");
  await eventually(`${name} is answered`, () => of("done").some(([, t]) => t === token));
}

// A thousand events more: what they take is let go.
for (let i = 0; i < 1000; i++) say({ type: "response.output_text.delta", ...part, delta: "x" });
command("close", 7, null);
await eventually("the call ends", () => of("done").some(([, token]) => token === 7));
await eventually("a tool that runs is told of the end", () => of("abort").length === 1);
assert(!ended, `${folder}: the program goes on`);
console.log(`smoke: ${process.argv[2]} places a call, is answered, and lets go`);
process.exit(0);
