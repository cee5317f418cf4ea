import { AntiphonProvider, LevelBar, TalkButton, Transcript, useMicrophone, useTool } from "@antiphon/vue";
import { createApp, defineComponent, h, ref } from "vue";

const Conversation = defineComponent(() => {
  useTool("clock", { type: "object", description: "Tells the time." }, () => "noon");
  const { microphone, setMuted } = useMicrophone();
  const mute = () => setMuted(!microphone.value.muted);
  return () => [h(TalkButton), h("button", { id: "mute", onClick: mute }, microphone.value.muted ? "Unmute" : "Mute"), h(LevelBar), h(Transcript)];
});

createApp(() => h(AntiphonProvider, { server: new URLSearchParams(location.search).get("server") }, () => h(Conversation))).mount("#root");
