// How a program uses the types. Every line that begins with @ts-expect-error must be an error.

import { type Call, connect, type Entry, preload, type State, type Tool, usage, version } from "antiphon";
import { AntiphonError } from "antiphon";

const weather: Tool<{ place: string }> = {
  name: "weather",
  description: "Tells the weather at a place.",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  async run({ place }, { signal }) {
    signal.throwIfAborted();
    return { place, celsius: 21 };
  },
};

export const talk = async (key: string): Promise<Call> => {
  const call = connect({
    url: "https://voice.example",
    key,
    instructions: "Be brief.",
    tools: [weather],
    turnDetection: { type: "semantic", eagerness: "high" },
    microphone: false,
    volume: 0.5,
    prediction: true,
    iceServers: [{ urls: "stun:stun.example" }],
  });
  call.addEventListener("state", ({ detail }) => {
    const state: State = detail;
    console.log(state, call.confirmed, call.predicted, call.interrupting, call.progress === "loading");
  });
  call.addEventListener("transcript", ({ detail }) => {
    const last: Entry | undefined = detail.at(-1);
    console.log(last?.role, last?.text, last?.call?.output);
  });
  call.addEventListener("levels", ({ detail: { microphone, agent } }) => console.log(Math.max(microphone, agent)));
  call.addEventListener("metrics", ({ detail: { interruptions, turn } }) => console.log(interruptions.leadMs, turn?.server?.firstToken ?? 0));
  call.addEventListener("error", ({ detail }) => console.log(detail.code === "wasm_blocked", detail.message, detail.remedy));
  try {
    await call.ready;
  } catch (error) {
    if (error instanceof AntiphonError) console.log(error.name, error.code);
    throw error;
  }
  await preload({ assets: "/voice/" });
  connect({ key: async () => (await fetch("/secret")).text() });
  call.send("hello");
  call.sendImage("data:image/png;base64,");
  call.startTalking();
  call.stopTalking();
  call.commit();
  for (const { id, question } of call.runs) if (question?.approval) call.approveRun(id, question.id);
  call.replyRun("run_1", "ia_1", "Oslo");
  call.cancelRun("run_1");
  call.addEventListener("runs", ({ detail }) => console.log(detail[0]?.result?.output));
  call.interrupt();
  call.mute();
  call.mute(false);
  call.setVolume(0.5);
  await call.setMicrophone(call.devices.microphones[0]?.id ?? "");
  await call.setSpeaker("");
  await call.refreshDevices();
  console.log(call.inspect().last.map(({ lane, action }) => [lane, action]), usage().handles, version);
  // @ts-expect-error: what is told is not to be written to
  call.state = "listening";
  // @ts-expect-error: a transcript neither
  call.transcript.push();
  // @ts-expect-error: no such option
  connect({ adress: "" });
  // @ts-expect-error: no such state
  if (call.state === "talking") return call;
  // @ts-expect-error: messages are texts
  call.send(7);
  await call.close();
  return call;
};

const element = document.querySelector("antiphon-talk");
element?.addEventListener("transcript", ({ detail }) => console.log(detail.length));
element?.addEventListener("click", (event) => console.log(event.clientX));
if (element) element.tools = [weather];
const started: Promise<Call | null> | undefined = element?.start();
console.log(started, document.createElement("antiphon-talk").call?.state);
