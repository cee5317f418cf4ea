// What a test is told that expects what does not come, and what is left when it is over.
import { connect, usage } from "antiphon";
import { awaitCall, awaitState, Clock, ExpectationError, Server } from "antiphon/sdktest";
import assert from "node:assert/strict";
import test from "node:test";

const open = async (t, options, of) => {
  const server = new Server({ within: 50, ...options }).install();
  const call = connect({ url: server.url, transport: "websocket", microphone: false, ...of });
  t.after(async () => {
    await call.close();
    await server.close();
  });
  await call.ready;
  return { server, call };
};

test("an error says what came instead", async (t) => {
  const { server, call } = await open(t, { byHand: true });
  const fails = (promise, message) => assert.rejects(promise, (error) => error instanceof ExpectationError && message.test(error.message));
  await fails(server.expect("response.create"), /^response.create did not come in 50 ms; before came antiphon.hello$/);
  call.send("hello");
  await fails(server.expect("response.create"), /^the page sent conversation.item.create instead of response.create: \{"type":"conversation.item.create"/);
  call.send("hello");
  await server.expect("response.create");
  await fails(server.expect("conversation.item.create", { item: { content: [{ text: "good bye" }] } }), /but item.content\[0\].text is "hello", not "good bye"/);
  await fails(server.until("response.cancel"), /^response.cancel did not come in 50 ms; before came /);
  call.send("hello");
  await fails(server.expect("conversation.item.create", { item: { content: [{ text: /^bye/ }] } }), /is "hello", and \/\^bye\/ does not match that/);
  await fails(server.until("response.create", { response: { conversation: "none" } }), /^another response.create \(of the last one response is undefined, not .* did not come/);
  await fails(awaitState(call, "user-speaking", { within: 50 }), /^the call is not user-speaking after 50 ms: it is thinking .* ends with user: "hello"/);
});

test("what happens before there is a call, and after it", async (t) => {
  const server = new Server({ within: 50 });
  assert.throws(() => server.send({ type: "error" }), /nobody has called http:\/\/antiphon.test.* and install\(\) before it/);
  const { server: other, call } = await open(t, { url: "http://other.test" });
  assert.throws(() => other.tell("rain"), /nothing is called "rain": there are broken, ended,/);
  assert.throws(() => other.tell("lost"), /a WebSocket is not lost/);
  const { server: tracked } = await open(t, { url: "http://tracks.test" }, { transport: "webrtc" });
  assert.throws(() => tracked.heard(100), /over WebRTC nothing is played here/);
  await other.next(); // antiphon.hello
  const waiting = assert.rejects(other.expect("response.create"), /the server was closed while response.create was expected/);
  await other.close();
  await waiting;
  await assert.rejects(awaitState(call, "listening"), /the call will not be listening: it is failed .* its error is server_gone/);
  await assert.rejects(other.next(), /cannot come/);
  assert.throws(() => other.begin(), /the server was closed/);
  await other.close();
});

test("a script", async (t) => {
  const clock = new Clock().install();
  t.after(() => clock.restore());
  const { server, call } = await open(t, { byHand: true, clock });
  call.send("hello");
  await server.run(`
    # the answer comes late
    expect conversation.item.create {"item": {"role": "user"}}
    expect response.create
    advance 2s
    send {"type": "response.created", "event_id": "e1", "response": {"id": "r", "status": "in_progress", "conversation_id": "c", "output": []}}
    send this is no event
  `);
  assert.equal(call.state, "thinking");
  for (const [script, message] of [
    ["dance", /^line 1 of the script: "dance" is no step/],
    ["\nadvance soon", /^line 2 of the script: "soon" is no time/],
    ["expect", /^line 1 of the script: expect what/],
    ["tell rain", /^line 1 of the script: nothing is called "rain"/],
  ]) {
    await assert.rejects(server.run(script), { message });
  }
  await assert.rejects(new Server().run("advance 1s"), /has no clock/);
});

test("a model that loads before its first word", async (t) => {
  const { server, call } = await open(t, { byHand: true });
  call.send("hello");
  const reply = server.begin({ written: true });
  for (const state of ["loading", "thinking"]) {
    await server.send({ type: "antiphon.response.progress", response_id: reply.response, state });
    await awaitCall(call, ({ progress }) => progress === state);
    assert.equal(call.state, "thinking");
  }
  await reply.say("Hello");
  await reply.end();
  await awaitState(call, "listening");
  assert.equal(call.progress, "");
});

test("a clock", async () => {
  const clock = new Clock().install();
  const begin = performance.now();
  const rang = [];
  const ring = (name) => () => rang.push(`${name} at ${Math.round(performance.now() - begin)}`);
  setTimeout(ring("second"), 2000);
  setTimeout(() => {
    ring("first")();
    setTimeout(ring("between"), 500);
  }, 1000);
  clearTimeout(setTimeout(ring("never"), 1000));
  const every = setInterval(ring("every"), 1200);
  await clock.advance(3000);
  clearInterval(every);
  assert.deepEqual(rang, ["first at 1000", "every at 1200", "between at 1500", "second at 2000", "every at 2400"]);
  setTimeout(ring("real"), 1);
  assert.equal(clock.waiting, 1);
  clock.restore();
  await new Promise((next) => setTimeout(next, 20));
  assert(rang.at(-1).startsWith("real"), "what waits rings when time runs again");
  assert(performance.now() - begin >= 3000, "which does not go back");
});

test("nothing is left of a hundred calls", async () => {
  const before = Object.getOwnPropertyNames(globalThis).filter((name) => name !== "navigator").sort();
  const { WebSocket, fetch, setTimeout } = globalThis;
  let first;
  for (let i = 0; i < 100; i++) {
    const server = new Server().install();
    const call = connect({ url: server.url, transport: i % 2 ? "websocket" : "webrtc" });
    await call.ready;
    call.send("hello");
    await server.until("response.create");
    await call.close();
    assert.equal(server.microphone.open, 0);
    await server.close();
    first ??= usage();
  }
  assert.deepEqual(Object.getOwnPropertyNames(globalThis).filter((name) => name !== "navigator").sort(), before);
  assert.deepEqual([globalThis.WebSocket, globalThis.fetch, globalThis.setTimeout], [WebSocket, fetch, setTimeout]);
  assert.equal(usage().functions, 0);
});

test("what is not the server's goes where it went before", async (t) => {
  const real = { fetch: globalThis.fetch, WebSocket: globalThis.WebSocket };
  t.after(() => Object.assign(globalThis, real));
  globalThis.fetch = async (address) => new Response(`asked for ${address}`);
  globalThis.WebSocket = class {
    constructor(address) {
      this.called = address;
    }
  };
  const server = new Server().install();
  assert.equal(await (await fetch("http://page.test/data.json")).text(), "asked for http://page.test/data.json");
  assert.equal((await fetch(`${server.url}/v1/other`)).status, 404);
  assert.equal(new WebSocket("ws://page.test/").called, "ws://page.test/");
  assert.equal(new WebSocket(server.url.replace("http", "ws")).readyState, 0);
  await server.close();
  assert.equal((await (await fetch("http://page.test/")).text()).slice(0, 9), "asked for");
  globalThis.WebSocket = undefined; // as in Node 20
  const other = new Server({ url: "http://other.test" }).install();
  assert.throws(() => new WebSocket("ws://page.test/"), /no Server has the address/);
  await other.close();
});

test("more than a page may send is dropped, and counted", async (t) => {
  const server = new Server({ byHand: true }).install();
  t.after(() => server.close());
  const socket = new WebSocket("ws://antiphon.test/v1/realtime?model=m", ["realtime", "openai-insecure-api-key.k"]);
  await new Promise((opened) => socket.addEventListener("open", opened));
  for (let i = 0; i < 10_005; i++) socket.send(JSON.stringify({ type: "response.create", event_id: `${i}` }));
  assert.equal((await server.next()).event_id, "5");
  assert.equal(server.dropped, 5);
  assert.deepEqual(server.calls, [{ transport: "websocket", url: socket.url, model: "m", key: "k" }]);
});
