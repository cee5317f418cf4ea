// Work in the background: what the page is told of it, and what it sends for it.
import { connect } from "antiphon";
import { Server } from "antiphon/sdktest";
import assert from "node:assert/strict";
import test from "node:test";

// changed resolves at the next event of this name, with its detail.
const changed = (call, name) => new Promise((resolve) => call.addEventListener(name, ({ detail }) => resolve(detail), { once: true }));

test("a user approves work in the background", async (t) => {
  const server = new Server().install();
  const call = connect({ url: server.url, transport: "websocket", microphone: false });
  t.after(async () => {
    await call.close();
    await server.close();
  });
  await call.ready;
  assert.deepEqual(call.runs, []);
  const say = (seq, type, data) =>
    server.send({ type: "antiphon.run.message", run_id: "run_1", tool: "book", message: { seq, ts: "12:00", type, data } });

  let runs = changed(call, "runs");
  await say(1, "interaction.requested", { interaction_id: "ia_1", kind: "approval", prompt: "Book?" });
  const [asks] = await runs;
  assert.equal(call.runs[0], asks);
  assert.deepEqual([asks.id, asks.tool, asks.result], ["run_1", "book", null]);
  assert.deepEqual(asks.question, { id: "ia_1", approval: true, prompt: "Book?", answered: false, choices: [] });

  runs = changed(call, "runs");
  call.approveRun("run_1", "ia_1");
  assert.deepEqual([(await runs)[0].question.answered, asks.question.answered], [true, false]);
  await server.until("antiphon.run.reply", { run_id: "run_1", interaction_id: "ia_1", approve: true });
  call.approveRun("run_1", "ia_1", false);
  await server.until("antiphon.run.reply", { approve: false });
  call.replyRun("run_1", "ia_2", "Oslo");
  await server.until("antiphon.run.reply", { interaction_id: "ia_2", reply: "Oslo" });
  assert.throws(() => call.replyRun("run_1", "ia_2", ""), { code: "invalid" });
  call.cancelRun("run_1");
  await server.until("antiphon.run.cancel", { run_id: "run_1" });

  runs = changed(call, "runs");
  await say(2, "run.result", { status: "canceled", code: "canceled", message: "the user" });
  assert.deepEqual((await runs)[0].result, { output: "", code: "canceled", message: "the user" });
});
