// The package openai over WebRTC. With this package the application itself sends the offer to the server. This program can send it in
// each form of the protocol.

import OpenAI from "openai";
import { OpenAIRealtimeWebRTC } from "openai/realtime/webrtc";

import { conversation } from "./openai.mjs";

export function openaiWebRTC({ url, key }) {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, dangerouslyAllowBrowser: true });
  const session = { type: "realtime", model: "gpt-realtime", instructions: "Be brief." };
  let call = "";
  const post = async (body, headers, signal, query = "") => {
    const answer = await fetch(`${url}/v1/realtime/calls${query}`, {
      method: "POST",
      body,
      headers: { Authorization: `Bearer ${key}`, ...headers },
      signal,
    });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const exchange = {
    // The offer alone.
    sdp: (sdp, signal) => post(sdp, { "Content-Type": "application/sdp" }, signal, "?model=gpt-realtime"),
    // A form whose fields are text.
    fields: (sdp, signal) => {
      const form = new FormData();
      form.set("sdp", sdp);
      form.set("session", JSON.stringify(session));
      return post(form, {}, signal);
    },
    // A form as the package writes it.
    files: (sdp, signal) => client.realtime.calls.create({ sdp, session }, { signal }),
  };

  const rt = new OpenAIRealtimeWebRTC();
  const talk = conversation({ send: (event) => rt.send(event) });
  const happened = [];
  rt.onEvent(talk.keep);
  rt.onConnectionEvent((e) => {
    happened.push(e.type === "state.changed" ? e.state : e.type);
    if (e.type === "error") talk.failed(e.error);
  });
  const audio = document.createElement("audio");
  audio.autoplay = true;
  rt.peerConnection.ontrack = (e) => {
    audio.srcObject = e.streams[0];
  };

  return {
    ...talk.methods,
    connect: async ({ form }) => {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      rt.peerConnection.addTrack(stream.getAudioTracks()[0], stream);
      await rt.connect({
        exchangeSdp: async (sdp, { signal }) => {
          const answer = await exchange[form](sdp, signal);
          call = answer.headers.get("Location")?.split("/").pop() ?? "";
          return await answer.text();
        },
      });
      return { call };
    },
    hangUp: async () => {
      await client.realtime.calls.hangup(call);
    },
    report: () => ({ ...talk.methods.report(), happened, state: rt.state }),
    close: () => rt.close(),
  };
}
