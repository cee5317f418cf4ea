"use client";
import type {} from "antiphon/react";
import { connect } from "antiphon";
import { useState } from "react";

export default function Page() {
  const [text, show] = useState("");
  const begin = () => {
    const call = connect({ url: new URLSearchParams(location.search).get("server") ?? undefined });
    call.addEventListener("transcript", ({ detail }) => show(detail.map((e) => `${e.role}: ${e.text}`).join(" | ")));
    call.addEventListener("error", ({ detail }) => show(`${detail.message}. ${detail.remedy}`));
    call.ready.then(() => call.send("hello there"));
  };
  return (
    <>
      <button id="begin" onClick={begin}>
        Talk
      </button>
      <p id="transcript">{text}</p>
      <antiphon-talk mode="push" ref={(talk) => void talk?.call?.state} />
    </>
  );
}
