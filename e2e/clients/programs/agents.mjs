// @openai/agents-realtime as an application uses it: two agents with tools, a session, and a report of all that it says.

import { hostedMcpTool } from "@openai/agents-core";
import { OpenAIRealtimeWebRTC, OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from "@openai/agents-realtime";
import { z } from "zod";

import { Microphone } from "./microphone.mjs";

// noted are the events of the session that are reported, by name and in their order.
const noted = [
  "agent_start", "agent_end", "agent_handoff", "agent_tool_start", "agent_tool_end", "audio_start", "audio_stopped",
  "audio_interrupted", "history_added", "guardrail_tripped",
];

export function agents({ url, key, webRTC, mcp }) {
  const calls = [];
  const remoteCalls = [];
  const weather = tool({
    name: "look_up_weather",
    description: "Says what the weather is like.",
    parameters: z.object({ place: z.string() }),
    execute: async ({ place }) => {
      calls.push({ name: "look_up_weather", place });
      return `rain over: ${place}`;
    },
  });
  const broken = tool({
    name: "open_window",
    description: "Opens a window, or would.",
    parameters: z.object({}),
    execute: async () => {
      throw new Error("the window is stuck");
    },
  });
  // Nobody answers at papers.test. The server must take the other settings all the same: the client sends all settings at once.
  const remote = hostedMcpTool({ serverLabel: "papers", serverUrl: mcp ?? "https://papers.test/mcp", requireApproval: "always" });
  const clerk = new RealtimeAgent({ name: "Clerk", handoffDescription: "Knows about papers.", instructions: "Be exact." });
  const porter = new RealtimeAgent({ name: "Porter", instructions: "Be brief.", tools: [remote, weather, broken], handoffs: [clerk] });

  const transport = webRTC
    ? new OpenAIRealtimeWebRTC({ baseUrl: `${url}/v1/realtime/calls` })
    : new OpenAIRealtimeWebSocket({ url: `${url.replace("http", "ws")}/v1/realtime?model=gpt-realtime` });
  const session = new RealtimeSession(porter, { transport, workflowName: "e2e", groupId: "clients", traceMetadata: { part: "agents" } });

  const happened = [];
  const errors = [];
  const server = [];
  let audioMS = 0; // of the present response, as far as it has arrived
  let firstAudio = 0;
  for (const name of noted) session.on(name, () => happened.push(name));
  session.on("tool_approval_requested", (_context, _agent, request) => session.approve(request.approvalItem));
  session.on("mcp_tool_call_completed", (_context, _agent, call) => remoteCalls.push({ name: call.name, output: call.output }));
  session.on("error", ({ error }) => errors.push(error));
  session.on("transport_event", (e) => {
    server.push(e.type);
    if (e.type === "response.created") [audioMS, firstAudio] = [0, 0];
  });
  session.on("audio", ({ data }) => {
    if (audioMS === 0) firstAudio = performance.now();
    audioMS += data.byteLength / 48;
  });
  const microphone = new Microphone();

  return {
    connect: async () => {
      await session.connect({ apiKey: key });
      if (!webRTC) microphone.open((frame) => session.sendAudio(frame));
    },
    write: ({ text }) => session.sendMessage(text),
    show: ({ image }) => session.addImage(image),
    say: ({ pcm }) => microphone.say(pcm),
    interrupt: () => session.interrupt(),
    mute: ({ muted }) => session.mute(muted),
    // forget removes an item from the history, and correct puts other words in the place of one.
    forget: ({ item }) => session.updateHistory((history) => history.filter(({ itemId }) => itemId !== item)),
    correct: ({ item, text }) =>
      session.updateHistory((history) =>
        history.map((old) => (old.itemId === item ? { ...old, content: [{ type: "input_text", text }] } : old)),
      ),
    report: () => ({
      agent: session.currentAgent.name,
      status: transport.status,
      call: transport.callId ?? "",
      history: session.history,
      happened,
      calls,
      remoteCalls,
      server,
      errors: errors.map((e) => e?.error?.message ?? e?.message ?? JSON.stringify(e)),
      audioMS,
      playedMS: firstAudio === 0 ? 0 : Math.min(audioMS, performance.now() - firstAudio),
      tokens: session.usage.totalTokens,
    }),
    close: () => {
      microphone.close();
      session.close();
    },
  };
}
