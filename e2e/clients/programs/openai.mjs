// The common part of the three transports of the package openai: it keeps all events, as the package gives them.

import { base64, Microphone } from "./microphone.mjs";

export function conversation(rt) {
  const events = [];
  const errors = [];
  let audioMS = 0;
  // Sound is counted and left out, so that people can read the reports.
  const keep = (event) => {
    if (event.type === "response.output_audio.delta") {
      audioMS += atob(event.delta).length / 48;
      event = { ...event, delta: "" };
    }
    events.push(event);
  };
  const microphone = new Microphone();
  return {
    keep,
    failed: (error) => errors.push(error),
    methods: {
      send: ({ event }) => rt.send(event),
      listen: () => microphone.open((frame) => rt.send({ type: "input_audio_buffer.append", audio: base64(frame) })),
      say: ({ pcm }) => microphone.say(pcm),
      append: ({ pcm }) => rt.send({ type: "input_audio_buffer.append", audio: pcm }),
      events: ({ from }) => events.slice(from),
      report: () => ({
        audioMS,
        errors: errors.map((e) => ({ name: e.name, message: [e.message, e.cause?.error?.message ?? e.cause?.message].join(" ").trim(), code: e.error?.code ?? "", event: e.error?.event_id ?? "" })),
      }),
    },
    close: () => microphone.close(),
  };
}
