// How a page is tested without a server, a network, a microphone or a moment's waiting: with the page's own code and the real program of
// the package. `npm test` runs it in Node.
import { awaitCall, Clock } from "antiphon/sdktest";
import assert from "node:assert/strict";
import test from "node:test";
import { open } from "./page.js";

for (const transport of ["webrtc", "websocket"]) {
  const call = { transport };

  test(`a conversation in writing, over ${transport}`, async (t) => {
    const page = await open(t, { call });
    page.call.send("hello there");
    await page.server.expect("conversation.item.create", { item: { role: "user", content: [{ text: "hello there" }] } });
    await page.server.expect("response.create");
    await page.shows("agent: You said: hello there");
    await page.is("listening");
    assert.deepEqual(page.now.lines, ["user: hello there", "agent: You said: hello there"]);
  });

  test(`a conversation by voice, over ${transport}`, async (t) => {
    const page = await open(t, { call, answer: ({ text }) => `You want ${text}.` });
    await page.server.speak("item_1", "some milk");
    await page.shows("agent: You want some milk.");
    await page.is("listening");
  });

  test(`the agent puts something on the list, over ${transport}`, async (t) => {
    const page = await open(t, { call });
    page.server.will({ calls: [{ name: "add_item", arguments: { item: "milk" } }] }, ({ outputs }) => `Done: ${outputs[0].output}`);
    page.call.send("I need milk");
    await page.server.until("conversation.item.create", { item: { type: "function_call_output", output: '{"items":1}' } });
    await page.server.expect("response.create");
    await page.shows('agent: Done: {"items":1}');
    assert.deepEqual(page.now.list, ["milk"]);
  });

  test(`the user speaks while the agent does, over ${transport}`, async (t) => {
    const page = await open(t, { call });
    page.server.will({ text: "One, two, three, four, five.", hold: true });
    await page.server.speak("item_1", "count to five");
    await page.is("agent-speaking");
    await page.server.speak("item_2", "that is enough");
    await page.shows("agent: You said: that is enough");
    assert.match(page.now.lines[1], /^agent: .* \.\.\.$/);
  });

  test(`the user ends the turn by hand, over ${transport}`, async (t) => {
    const page = await open(t, { call: { ...call, turnDetection: { type: "manual" } }, speech: "over" });
    page.call.startTalking();
    await page.server.until("input_audio_buffer.clear");
    page.call.stopTalking();
    await page.shows("agent: You said: over");
  });

  test(`a server that is no Antiphon, over ${transport}`, async (t) => {
    const page = await open(t, { call, plain: true });
    page.call.send("hello");
    await page.shows("agent: You said: hello");
    assert(!page.server.sent().some(({ type }) => type.startsWith("antiphon.")));
  });

  test(`a server that never answers, over ${transport}`, async (t) => {
    const clock = new Clock().install();
    t.after(() => clock.restore());
    const page = await open(t, { call, answer: null });
    page.call.send("is anybody there?");
    await page.is("thinking");
    await clock.advance(16_000);
    await page.is(/^listening: the server did not answer in time/);
    page.server.answer = "Now I am.";
    page.call.send("and now?");
    await page.shows("agent: Now I am.");
  });

  test(`a server that makes no session, over ${transport}`, { timeout: 20_000 }, async (t) => {
    const clock = new Clock().install();
    t.after(() => clock.restore());
    const page = await open(t, { call, silent: true });
    let over = false;
    const failed = assert.rejects(page.call.ready, { name: "AntiphonError", code: "server_silent" }).finally(() => (over = true));
    while (!page.server.connected) await clock.advance(0); // to connect takes real time
    while (!over) await clock.advance(1_000); // the page's program sets its timers in tasks of its own
    await failed;
    assert.match(page.now.status, /^failed: /);
  });

  for (const [name, faults] of Object.entries({ late: { late: 20 }, twice: { twice: true }, "with events that nobody knows": { strange: true } })) {
    test(`a server whose events come ${name}, over ${transport}`, async (t) => {
      const page = await open(t, { call });
      page.server.misbehave(faults);
      page.call.send("hello");
      await page.shows("agent: You said: hello");
      await page.is("listening");
    });
  }

  test(`events in the wrong order, and a connection that breaks in the middle of one, over ${transport}`, async (t) => {
    const page = await open(t, { call });
    page.server.misbehave({ reversed: 5 });
    page.call.send("hello");
    await page.server.until("response.create");
    await page.server.misbehave({});
    await page.server.cutOff({ type: "response.output_text.delta", delta: "never heard" });
    await page.is("reconnecting");
    await page.server.until("conversation.item.create"); // the page tells the new conversation what it had said
    assert.equal(page.server.calls.length, 2);
    page.call.send("are you back?");
    await page.shows("agent: You said: are you back?");
  });
}

test("the user stops the agent, and the page shows what was heard", async (t) => {
  const page = await open(t, { call: { transport: "websocket" } });
  page.server.will({ text: "One, two, three, four, five.", hold: true });
  page.call.send("count to five");
  await page.is("agent-speaking");
  await page.server.heard(600); // two words
  page.call.interrupt();
  await page.server.until("conversation.item.truncate", { audio_end_ms: 600 });
  await page.is("listening");
  await page.shows("agent: One, two, ...");
  assert.equal(page.server.reply.live, false);
});

test("the user speaks over the agent", async (t) => {
  const page = await open(t, { call: { transport: "websocket" } });
  page.server.will({ text: "One, two, three, four, five.", hold: true });
  page.call.send("count to five");
  await page.is("agent-speaking");
  await page.server.heard(900);
  page.server.microphone.voice();
  await page.server.until("antiphon.barge_in.candidate", { heard_ms: 900 });
  await page.is("interrupting?");
  assert(page.server.held, "the playback waits for the verdict");
  await page.server.reply.interrupt("item_2", 900);
  await page.is("user-speaking");
  assert.equal(page.now.lines.at(-2), "agent: One, two, three, ...");
  assert.equal(page.call.metrics.interruptions.confirmed, 1);
});

test("a network that is lost for a moment", async (t) => {
  const page = await open(t);
  await page.server.tell("lost");
  await page.is("reconnecting");
  await page.server.tell("restored");
  await page.is("listening");
});

test("a microphone that is pulled out", async (t) => {
  const page = await open(t);
  assert.equal(page.server.microphone.open, 1);
  page.server.microphone.devices = [];
  await page.server.tell("unplugged");
  await awaitCall(page.call, () => page.call.microphoneError?.code === "no_microphone");
  assert.equal(page.server.microphone.open, 0);
});

test("a microphone that is refused leaves the call in writing", async (t) => {
  const page = await open(t);
  page.server.microphone.refuse = "NotAllowedError";
  await assert.rejects(page.call.setMicrophone("default"), { code: "permission_denied" });
  page.call.send("hello");
  await page.shows("agent: You said: hello");
});

test("a server that refuses the call", async (t) => {
  const page = await open(t, { refuse: 401 });
  await assert.rejects(page.call.ready, { code: "unauthorized" });
});
