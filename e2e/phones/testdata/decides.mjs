// An application of the packages openai and @openai/agents-realtime that answers the first telephone call with an agent, and refuses the second one.
import http from "node:http";
import OpenAI from "openai";
import { OpenAIRealtimeSIP, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";

const url = process.env.SERVER;
const client = new OpenAI({ apiKey: "sk-none", baseURL: url + "/v1", webhookSecret: process.env.SECRET });
const agent = new RealtimeAgent({ name: "desk", instructions: "Be short." });

async function answer(id) {
  const session = new RealtimeSession(agent, { transport: new OpenAIRealtimeSIP() });
  session.on("transport_event", (e) => e.type === "session.created" && console.log("session", e.session.instructions));
  await client.realtime.calls.accept(id, { type: "realtime", ...(await OpenAIRealtimeSIP.buildInitialConfig(agent)) });
  await session.connect({ apiKey: "sk-none", callId: id, url: url.replace("http", "ws") + "/v1/realtime?call_id=" + id });
  const twice = await client.realtime.calls.accept(id, { type: "realtime" }).catch((e) => e);
  console.log("again", twice.status, twice.code);
  const stolen = await client.realtime.calls.refer(id, { target_uri: "tel:+1900" }).catch((e) => e);
  console.log("refer", stolen.status, stolen.code);
  await client.realtime.calls.hangup(id);
  console.log("hung up");
}

let calls = 0;
const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const event = await client.webhooks.unwrap(body, request.headers);
  response.end();
  const from = event.data.sip_headers.find((h) => h.name === "From");
  console.log(event.type, from.value.includes("sipp"));
  if (calls++ === 0) return answer(event.data.call_id);
  await client.realtime.calls.reject(event.data.call_id, { status_code: 486 });
  console.log("rejected");
  server.close();
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("ready"));
