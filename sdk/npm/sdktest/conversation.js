// What a test's server knows of a call: the session object and the items.

import { heard } from "./reply.js";

// kept limits the number of items. The oldest ones are dropped first.
const kept = 1000;

const pcm = { type: "audio/pcm", rate: 24000 };

// session returns the session object of session.created, before a test's settings are merged into it.
export const session = () => ({
  type: "realtime",
  object: "realtime.session",
  id: "sess_test",
  model: "test-model",
  output_modalities: ["audio"],
  instructions: "",
  audio: {
    input: {
      format: pcm,
      transcription: {},
      noise_reduction: null,
      turn_detection: { type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500, create_response: true, interrupt_response: true },
    },
    output: { format: pcm, voice: "test", speed: 1 },
  },
  tools: [],
  tool_choice: "auto",
  max_output_tokens: "inf",
});

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// merge returns an object with a patch over it: objects are merged, all other values are replaced.
export const merge = (whole, patch) => {
  const made = { ...whole };
  for (const [key, value] of Object.entries(patch ?? {})) made[key] = isObject(value) && isObject(made[key]) ? merge(made[key], value) : value;
  return made;
};

// wordsOf returns the text of an item.
const wordsOf = ({ content = [] }) => content.map(({ text, transcript }) => text ?? transcript ?? "").join(" ").trim();

// Conversation is the state of one call.
export class Conversation {
  session;
  items = new Map();

  #count = 0;

  constructor(patch) {
    this.session = merge(session(), patch);
  }

  // add keeps an item. It returns the item with the fields that a server adds, and the id of the item before it.
  add(item) {
    const whole = { id: `item_${++this.#count}`, object: "realtime.item", status: "completed", ...item };
    const ids = [...this.items.keys()];
    const at = ids.indexOf(whole.id);
    const previous = ids[(at < 0 ? ids.length : at) - 1] ?? null;
    this.items.set(whole.id, whole);
    if (this.items.size > kept) this.items.delete(this.items.keys().next().value);
    return { item: whole, previous_item_id: previous };
  }

  // truncate cuts a spoken item's transcript to the words of its first ms milliseconds. It returns false for an unknown item.
  truncate(id, ms) {
    const item = this.items.get(id);
    if (!item) return false;
    const cut = (part) => (part.transcript === undefined || part.transcript === null ? part : { ...part, transcript: heard(part.transcript, ms) });
    this.items.set(id, { ...item, content: (item.content ?? []).map(cut) });
    return true;
  }

  // asked returns what a response has to answer: the user's last words, the last item, and the tool outputs at the end.
  asked() {
    const all = [...this.items.values()];
    const message = all.findLast(({ type, role }) => type === "message" && role === "user");
    const last = all.at(-1);
    const outputs = all.slice(all.findLastIndex(({ type }) => type !== "function_call_output") + 1);
    return { text: message ? wordsOf(message) : "", item: last ?? null, outputs: outputs.map(({ call_id, output }) => ({ callId: call_id, output })) };
  }
}
