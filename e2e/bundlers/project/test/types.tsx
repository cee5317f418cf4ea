// The types of both packages, as strict programs use them.
import { AntiphonProvider, LevelBar, TalkButton, Transcript, useCall, useCallState, useLevels, useMicrophone, useRuns, useTool, useTranscript } from "@antiphon/react";
import * as vue from "@antiphon/vue";
import { useState } from "react";

function Conversation() {
  const call = useCall();
  const { state, error } = useCallState();
  const words: string[] = useTranscript().map(({ text, heard }) => text.slice(0, heard));
  const { muted, setMuted } = useMicrophone();
  const loud: number = useLevels()().agent;
  const done = useRuns().filter(({ status }) => status === "succeeded").length;
  useTool<{ city: string }>("weather", { type: "object", properties: { city: { type: "string" } } }, async ({ city }, { signal }) => `${city} ${signal.aborted}`);
  // @ts-expect-error: a message is a text
  const wrong = () => call.send(1);
  // @ts-expect-error: there is no such state
  const never = state === "asleep";
  return (
    <>
      <TalkButton className="talk" start={{ instructions: "Be brief." }}>Talk</TalkButton>
      <LevelBar of="agent" />
      <Transcript names={{ agent: "Ada" }} className="words" />
      <button onClick={() => setMuted(!muted)} disabled={never}>{error?.remedy ?? words.join(" ")}{loud}{done}{String(wrong)}</button>
    </>
  );
}

export function App() {
  const [muted, setMuted] = useState(false);
  return <AntiphonProvider server="http://localhost:8080" options={{ transport: "websocket" }} muted={muted} onMutedChange={setMuted}><Conversation /></AntiphonProvider>;
}

export function setup(): string {
  const call = vue.useCall();
  vue.useTool("clock", undefined, () => "noon");
  // @ts-expect-error: a call has no such action
  call.shout();
  return vue.useCallState().value.state + vue.useMicrophone().microphone.value.id + vue.useTranscript().value.length + vue.useRuns().value.length + vue.useLevels()().agent;
}
