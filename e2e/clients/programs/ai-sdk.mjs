// The realtime session of the AI SDK, as its hook for React has it: ai and @ai-sdk/openai.

import { createOpenAI } from "@ai-sdk/openai";
import { Experimental_AbstractRealtimeSession as Session, experimental_getRealtimeToolDefinitions as definitions, tool } from "ai";
import { z } from "zod";

import { base64, Microphone } from "./microphone.mjs";

class Talk extends Session {
  ready = new Promise((resolve) => (this.connected = resolve));

  setState(key, value) {
    this.state = { ...this.state, [key]: value };
    if (value === "connected") this.connected();
  }
}

const text = ({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

export function aiSDK({ url, key }) {
  const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key });
  const calls = [];
  const errors = [];
  const microphone = new Microphone();
  const whole = []; // the answers that have come to their end
  let audioMS = 0;
  let interruptions = 0;
  let talk;
  const spoken = (role) => talk.state.messages.filter((m) => m.role === role).map(text).filter((t) => t !== "");

  return {
    connect: async () => {
      const weather = tool({ description: "Says what the weather is like.", inputSchema: z.object({ place: z.string() }) });
      const sessionConfig = {
        instructions: "Be brief.",
        voice: "marin",
        outputModalities: ["audio"],
        inputAudioFormat: { type: "audio/pcm", rate: 24000 },
        outputAudioFormat: { type: "audio/pcm", rate: 24000 },
        inputAudioTranscription: {},
        turnDetection: { type: "server-vad", threshold: 0.5, silenceDurationMs: 500, prefixPaddingMs: 300 },
        tools: await definitions({ tools: { look_up_weather: weather } }),
      };
      // An application's own server gets the token. It opens a socket with the model's settings and nothing else.
      const token = await openai.experimental_realtime.getToken({ model: "gpt-realtime", sessionConfig, expiresAfterSeconds: 60 });
      const model = openai.experimental_realtime("gpt-realtime");
      const { url: websocket, protocols } = model.getWebSocketConfig(token);
      talk = new Talk({
        model,
        api: { websocket, protocols },
        sessionConfig,
        onToolCall: ({ toolCall: { args } }) => {
          calls.push(args.place);
          return `rain over: ${args.place}`;
        },
        onEvent: (e) => {
          if (e.type === "audio-delta") audioMS += atob(e.delta).length / 48;
          if (e.type === "audio-transcript-done") whole.push(e.transcript);
          if (e.type === "speech-started") interruptions++;
        },
        // When answers play without a pause between them, the client truncates the last one at the time since the first one began.
        onError: (error) => /^Error: Audio content of \d+ms is already shorter/.test(error) || errors.push(String(error)),
      });
      await talk.connect();
      await talk.ready;
      microphone.open((frame) => talk.sendAudio(base64(frame)));
    },
    write: ({ text }) => talk.sendTextMessage(text),
    say: ({ pcm }) => microphone.say(pcm),
    report: () => ({ said: spoken("assistant").filter((t) => whole.includes(t)), heard: spoken("user"), calls, interruptions, audioMS, errors }),
    close: async () => {
      microphone.close();
      await talk.close();
    },
  };
}
