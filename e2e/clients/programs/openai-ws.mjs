// The package openai over a WebSocket in Node, with the package ws underneath.

import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

import { conversation } from "./openai.mjs";

export function openaiWS({ url, key }) {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` });
  let rt;
  let talk;
  const open = async (target, apiKey) => {
    rt = await OpenAIRealtimeWS.create(apiKey ? client.withOptions({ apiKey }) : client, target);
    talk = conversation({ send: (event) => rt.send(event) });
    rt.on("event", talk.keep);
    rt.on("error", talk.failed);
    await new Promise((resolve, reject) => {
      rt.socket.once("open", resolve);
      rt.socket.once("error", reject);
    });
  };
  const methods = Object.fromEntries(
    ["send", "listen", "say", "append", "events", "report"].map((name) => [name, (args) => talk.methods[name](args)]),
  );
  return {
    ...methods,
    connect: ({ target, key }) => open(target, key),
    secret: ({ session }) => client.realtime.clientSecrets.create({ session }),
    close: async () => {
      talk.close();
      const closed = new Promise((resolve) => rt.socket.once("close", resolve));
      rt.close();
      return await closed;
    },
  };
}
