// How a test of a page uses the types. Every line that begins with @ts-expect-error must be an error.

import { type Call, connect } from "antiphon";
import { type Asked, awaitCall, awaitState, Clock, type Event, ExpectationError, type Reply, Server } from "antiphon/sdktest";

const answer = async ({ text, outputs }: Asked) => (outputs.length ? (outputs[0]?.output ?? null) : { text, calls: [{ name: "add", arguments: { a: 1 } }] });

export const test = async (): Promise<void> => {
  const clock = new Clock().install();
  const server = new Server({ url: "https://voice.example", answer, clock, session: { output_modalities: ["text"] } }).install({ fakes: "all" });
  const call: Call = connect({ url: server.url, transport: "websocket" });
  await call.ready;
  server.will("One.", null, { text: "Two.", hold: true }, async () => "Three.");
  const event: Event = await server.expect("conversation.item.create", { item: { role: "user", content: [{ text: /hello/ }] } });
  await server.until("response.create", {}, { within: 100 });
  await awaitState(call, "agent-speaking");
  await awaitCall(call, ({ transcript }) => transcript.length > 1, { what: "longer" });
  const reply: Reply | null = server.reply;
  await reply?.interrupt("item_2", 600);
  const other = server.begin({ written: true });
  await other.say("Hello");
  await other.end();
  await server.misbehave({ late: 100, twice: true });
  await server.tell("broken");
  await server.run("expect response.create");
  server.microphone.refuse = "NotAllowedError";
  server.microphone.say(new Float32Array(240));
  await clock.advance(1000);
  console.log(event.type, server.calls[0]?.transport === "webrtc", server.level * 2, new ExpectationError("x").name);
  // @ts-expect-error: no such happening
  await server.tell("rain");
  // @ts-expect-error: no such state
  await awaitState(call, "talking");
  // @ts-expect-error: replies are begun by a server
  new Reply();
  // @ts-expect-error: a number is no answer
  server.answer = 7;
  // @ts-expect-error: what is wanted of an event is an object
  await server.expect("response.create", "response");
  await server.close();
  clock.restore();
};
