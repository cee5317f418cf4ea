// LiveKit's plugin for OpenAI's realtime models as its voice agents use it: one session of the model, without a LiveKit server.

import { initializeLogger, llm } from "@livekit/agents";
import { realtime } from "@livekit/agents-plugin-openai";
import { AudioFrame } from "@livekit/rtc-node";
import { z } from "zod";

import { Microphone } from "./microphone.mjs";

const rate = 24000;

export function livekit({ url, key }) {
  initializeLogger({ pretty: false, level: "silent" });
  const model = new realtime.RealtimeModel({ baseURL: `${url}/v1`, apiKey: key, model: "gpt-realtime" });
  const session = model.session();
  const calls = [];
  const errors = [];
  const happened = [];
  const heard = [];
  const replies = []; // { message, text, ms, whole } of each spoken reply, as far as it has come
  const server = [];
  const microphone = new Microphone();

  session.on("openai_server_event_received", (e) => {
    server.push(e.type);
    if (e.type === "error") errors.push(e.error.message);
  });
  session.on("error", ({ error }) => errors.push(String(error)));
  session.on("input_speech_started", () => happened.push("input_speech_started"));
  session.on("input_speech_stopped", () => happened.push("input_speech_stopped"));
  session.on("input_audio_transcription_completed", (e) => e.isFinal && heard.push(e.transcript));
  session.on("generation_created", (generation) => take(generation).catch((e) => errors.push(String(e))));

  async function take({ messageStream, functionStream }) {
    const messages = async () => {
      for await (const m of messageStream) {
        const reply = { message: m.messageId, text: "", ms: 0, whole: false };
        replies.push(reply);
        await Promise.all([
          (async () => {
            for await (const t of m.textStream) reply.text += typeof t === "string" ? t : t.text;
          })(),
          (async () => {
            for await (const f of m.audioStream) reply.ms += (1000 * f.samplesPerChannel) / f.sampleRate;
          })(),
        ]);
        reply.whole = true;
      }
    };
    const functions = async () => {
      for await (const f of functionStream) {
        calls.push({ name: f.name, place: JSON.parse(f.args).place });
        const context = session.chatCtx.copy();
        context.insert(
          llm.FunctionCallOutput.create({ callId: f.callId, name: f.name, output: `rain over: ${JSON.parse(f.args).place}`, isError: false }),
        );
        await session.updateChatCtx(context);
        await session.generateReply();
      }
    };
    await Promise.all([messages(), functions()]);
  }

  return {
    connect: async () => {
      await session.updateInstructions("Be brief.");
      const weather = llm.tool({
        name: "look_up_weather",
        description: "Says what the weather is like.",
        parameters: z.object({ place: z.string() }),
        execute: async () => "",
      });
      await session.updateTools(new llm.ToolContext([weather]));
      microphone.open((frame) => session.pushAudio(new AudioFrame(new Int16Array(frame), rate, 1, frame.byteLength / 2)));
    },
    write: async ({ text }) => {
      const context = session.chatCtx.copy();
      context.addMessage({ role: "user", content: text });
      await session.updateChatCtx(context);
      await session.generateReply();
    },
    say: ({ pcm }) => microphone.say(pcm),
    // interrupt stops the newest reply, and tells the server how much of it was played, as a voice agent does.
    interrupt: async ({ ms }) => {
      const { message } = replies.at(-1);
      await session.interrupt();
      await session.truncate({ messageId: message, audioEndMs: ms, modalities: ["audio", "text"] });
    },
    report: () => ({ replies, calls, heard, happened, errors, server }),
    close: async () => {
      microphone.close();
      await session.close();
      await model.close();
    },
  };
}
