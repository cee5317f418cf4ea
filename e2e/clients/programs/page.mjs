// Runs one client in a page: begin makes it, and ask calls a method of it.

import { agents } from "./agents.mjs";
import { aiSDK } from "./ai-sdk.mjs";
import { openaiWebRTC } from "./openai-webrtc.mjs";
import { openaiWebSocket } from "./openai-websocket.mjs";

let client;

window.begin = (name, options) => {
  client = { agents, aiSDK, openaiWebRTC, openaiWebSocket }[name](options);
};

window.ask = async (method, args) => {
  try {
    return { result: (await client[method](args ?? {})) ?? null };
  } catch (error) {
    return { error: String(error?.stack ?? error) };
  }
};
