// Composables and components for Vue. Each composable is a ref of its own part of the call.

import { connect } from "antiphon";
import { CallStore, coming } from "antiphon/store";
import { defineComponent, h, inject, onMounted, onScopeDispose, onUnmounted, provide, ref, shallowRef, toValue, watchEffect } from "vue";

const key = Symbol("antiphon");

const useStore = () => {
  const store = inject(key, null);
  if (!store) throw new Error("this component is not inside of an AntiphonProvider: put one around your application");
  return store;
};

const usePart = (part, store = useStore()) => {
  const value = shallowRef(store.get(part));
  onScopeDispose(store.subscribe(part, () => (value.value = store.get(part))));
  return value;
};

export const AntiphonProvider = defineComponent({
  name: "AntiphonProvider",
  props: { server: String, options: Object, muted: { type: Boolean, default: undefined } },
  emits: ["update:muted"],
  setup(props, { slots, emit }) {
    const store = new CallStore(connect);
    provide(key, store);
    watchEffect(() => {
      store.options = { ...props.options, url: props.server };
      const kept = props.muted !== undefined;
      store.onMutedChange = kept ? (muted) => emit("update:muted", muted) : null;
      if (kept) store.mute(props.muted);
    });
    onUnmounted(() => store.stop());
    return () => slots.default?.();
  },
});

export const useCall = () => {
  const { start, stop, send, sendImage, interrupt, startTalking, stopTalking, approveRun, replyRun, cancelRun, resumeSound } = useStore();
  return { start, stop, send, sendImage, interrupt, startTalking, stopTalking, approveRun, replyRun, cancelRun, resumeSound };
};
export const useCallState = () => usePart("state");
export const useTranscript = () => usePart("transcript");
export const useRuns = () => usePart("runs");
export const useLevels = () => useStore().levels;

export const useMicrophone = () => {
  const store = useStore();
  return { microphone: usePart("microphone", store), setMuted: store.setMuted, selectMicrophone: store.selectMicrophone };
};

export const useTool = (name, schema, run) => {
  const store = useStore();
  watchEffect((clean) => clean(store.tool(toValue(name), toValue(schema), () => run)));
};

export const TalkButton = defineComponent({
  name: "TalkButton",
  props: { start: Object },
  setup(props, { slots }) {
    const call = useCall();
    const state = useCallState();
    return () => {
      const off = state.value.state === "disconnected" || state.value.state === "failed";
      const onClick = () => void (off ? call.start(props.start) : call.stop());
      return h("button", { type: "button", "data-state": state.value.state, "aria-pressed": !off, onClick }, slots.default?.() ?? (off ? "Talk" : "End"));
    };
  },
});

const who = { user: "You", agent: "Agent", tool: "Tool" };

export const Transcript = defineComponent({
  name: "AntiphonTranscript",
  props: { names: Object },
  setup(props) {
    const transcript = useTranscript();
    const line = (entry) =>
      h("li", { key: entry.id, "data-role": entry.role, "data-live": entry.live || undefined, "aria-busy": entry.live || entry.heard < entry.text.length }, [
        h("b", { ...who, ...props.names }[entry.role]), " ",
        h("span", { "data-heard": "" }, entry.call ? entry.call.name : entry.text.slice(0, entry.heard)),
        entry.call ? null : h("span", { "data-coming": "", style: { opacity: 0.6 } }, coming(entry)),
        entry.interrupted ? h("i", " — interrupted") : entry.note ? h("i", ` ${entry.note}`) : null,
      ]);
    return () => h("ol", { role: "log", "aria-label": "Transcript" }, transcript.value.map(line));
  },
});

export const LevelBar = defineComponent({
  name: "LevelBar",
  props: { of: { type: String, default: "microphone" } },
  setup(props) {
    const levels = useLevels();
    const bar = ref(null);
    let frame = 0;
    const draw = () => {
      const level = levels()[props.of];
      bar.value.firstChild.style.transform = `scaleX(${level})`;
      bar.value.setAttribute("aria-valuenow", String(Math.round(100 * level)));
      frame = requestAnimationFrame(draw);
    };
    onMounted(() => (frame = requestAnimationFrame(draw)));
    onUnmounted(() => cancelAnimationFrame(frame));
    const fill = { width: "100%", height: "100%", background: "currentColor", transform: "scaleX(0)", transformOrigin: "left" };
    return () =>
      h("div", { ref: bar, role: "meter", "aria-label": props.of === "agent" ? "Level of the agent" : "Level of the microphone", "aria-valuemin": 0, "aria-valuemax": 100, style: { height: "6px" } },
        h("div", { style: fill }));
  },
});
