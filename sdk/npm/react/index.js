"use client";
// Hooks and components for React. Each hook renders its component again only when its own part of the call changes.

import { connect } from "antiphon";
import { CallStore, coming } from "antiphon/store";
import { createContext, createElement, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";

const Context = createContext(null);

const useStore = () => {
  const store = useContext(Context);
  if (!store) throw new Error("this component is not inside of an AntiphonProvider: put one around your application");
  return store;
};

const usePart = (part) => {
  const { store, subscribe } = useStore();
  const read = () => store.get(part);
  return useSyncExternalStore(subscribe[part], read, read);
};

// provided returns what a provider gives to its hooks. The functions stay the same.
const provided = () => {
  const store = new CallStore(connect);
  const subscribe = Object.fromEntries(["state", "microphone", "transcript", "runs"].map((part) => [part, (changed) => store.subscribe(part, changed)]));
  const { start, stop, send, sendImage, interrupt, startTalking, stopTalking, approveRun, replyRun, cancelRun, resumeSound } = store;
  const actions = { start, stop, send, sendImage, interrupt, startTalking, stopTalking, approveRun, replyRun, cancelRun, resumeSound };
  return { store, subscribe, actions, mounts: 0 };
};

export const AntiphonProvider = ({ server, options, muted, onMutedChange, children }) => {
  const [value] = useState(provided);
  const { store } = value;
  useEffect(() => {
    store.options = { ...options, url: server };
    store.onMutedChange = onMutedChange ?? null;
  });
  useEffect(() => {
    if (muted !== undefined) store.mute(muted);
  }, [store, muted]);
  // The call ends with the provider. StrictMode and hot reload mount it again at once: then the call goes on.
  useEffect(() => {
    value.mounts++;
    return () => {
      value.mounts--;
      setTimeout(() => value.mounts || store.stop());
    };
  }, [store, value]);
  return createElement(Context.Provider, { value }, children);
};

export const useCall = () => useStore().actions;
export const useCallState = () => usePart("state");
export const useTranscript = () => usePart("transcript");
export const useRuns = () => usePart("runs");
export const useLevels = () => useStore().store.levels;

export const useMicrophone = () => {
  const { setMuted, selectMicrophone } = useStore().store;
  return { ...usePart("microphone"), setMuted, selectMicrophone };
};

export const useTool = (name, schema, run) => {
  const { store } = useStore();
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const text = JSON.stringify(schema); // a schema that is written in place is a new object each time
  useEffect(() => store.tool(name, text && JSON.parse(text), () => latest.current), [store, name, text]);
};

export const TalkButton = ({ start, children, ...rest }) => {
  const call = useCall();
  const { state } = useCallState();
  const off = state === "disconnected" || state === "failed";
  const press = () => void (off ? call.start(start) : call.stop());
  return createElement("button", { type: "button", "data-state": state, "aria-pressed": !off, onClick: press, ...rest }, children ?? (off ? "Talk" : "End"));
};

const who = { user: "You", agent: "Agent", tool: "Tool" };

export const Transcript = ({ names, ...rest }) =>
  createElement("ol", { role: "log", "aria-label": "Transcript", ...rest },
    useTranscript().map((entry) =>
      createElement("li", { key: entry.id, "data-role": entry.role, "data-live": entry.live || undefined, "aria-busy": entry.live || entry.heard < entry.text.length },
        createElement("b", null, { ...who, ...names }[entry.role]), " ",
        createElement("span", { "data-heard": "" }, entry.call ? entry.call.name : entry.text.slice(0, entry.heard)),
        entry.call ? null : createElement("span", { "data-coming": "", style: { opacity: 0.6 } }, coming(entry)),
        entry.interrupted ? createElement("i", null, " — interrupted") : entry.note && createElement("i", null, ` ${entry.note}`))));

export const LevelBar = ({ of = "microphone", style, ...rest }) => {
  const levels = useLevels();
  const bar = useRef(null);
  useEffect(() => {
    let frame = requestAnimationFrame(function draw() {
      const level = levels()[of];
      bar.current.firstChild.style.transform = `scaleX(${level})`;
      bar.current.setAttribute("aria-valuenow", String(Math.round(100 * level)));
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [levels, of]);
  const fill = { width: "100%", height: "100%", background: "currentColor", transform: "scaleX(0)", transformOrigin: "left" };
  return createElement("div", { ref: bar, role: "meter", "aria-label": of === "agent" ? "Level of the agent" : "Level of the microphone", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": 0, style: { height: 6, ...style }, ...rest },
    createElement("div", { style: fill }));
};
