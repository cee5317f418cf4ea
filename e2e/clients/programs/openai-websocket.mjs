// The package openai over the browser's own WebSocket, which sends the key as a subprotocol.

import OpenAI from "openai";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";

import { conversation } from "./openai.mjs";

export function openaiWebSocket({ url, key }) {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, dangerouslyAllowBrowser: true });
  let rt;
  let talk;
  const methods = Object.fromEntries(
    ["send", "listen", "say", "append", "events", "report"].map((name) => [name, (args) => talk.methods[name](args)]),
  );
  return {
    ...methods,
    connect: async ({ target }) => {
      rt = await OpenAIRealtimeWebSocket.create(client, target);
      talk = conversation({ send: (event) => rt.send(event) });
      rt.on("event", talk.keep);
      rt.on("error", talk.failed);
      await new Promise((resolve, reject) => {
        rt.socket.addEventListener("open", resolve, { once: true });
        rt.socket.addEventListener("error", () => reject(new Error("the WebSocket does not open")), { once: true });
      });
    },
    close: async () => {
      talk.close();
      const closed = new Promise((resolve) => rt.socket.addEventListener("close", resolve, { once: true }));
      rt.close();
      return (await closed).code;
    },
  };
}
