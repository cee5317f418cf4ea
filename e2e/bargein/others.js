// The clients of other projects, used as their documents say.

import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";

const microphone = () => navigator.mediaDevices.getUserMedia({ audio: true });

// stock is @openai/agents-realtime, unmodified.
const stock = async ({ url }) => {
  const audioElement = document.createElement("audio");
  const mediaStream = await microphone();
  const transport = new OpenAIRealtimeWebRTC({ baseUrl: `${url}/v1/realtime/calls`, useInsecureApiKey: true, mediaStream, audioElement });
  const session = new RealtimeSession(new RealtimeAgent({ name: "Porter", instructions: "Be brief." }), { transport });
  session.on("error", ({ error }) => console.error("stock", error));
  await session.connect({ apiKey: "none" });
  return { audioElement, mediaStream, write: (text) => session.sendMessage(text), close: () => session.close() };
};

// naive is the same with an addition of many pages: it mutes the agent while the microphone is loud, and the stream goes on.
const naive = async (options) => {
  const client = await stock(options);
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  context.createMediaStreamSource(client.mediaStream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  let loudAt = -Infinity;
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    let sum = 0;
    for (const s of samples) sum += s * s;
    if (Math.sqrt(sum / samples.length) > 0.02) loudAt = performance.now();
    client.audioElement.muted = performance.now() - loudAt < 300;
  }, 10);
  return {
    ...client,
    close: () => {
      clearInterval(timer);
      client.close();
    },
  };
};

Object.assign(window.clients, { stock, naive });
