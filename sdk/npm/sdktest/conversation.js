import { heard } from "./reply.js";

// kept bounds the items that a server knows; the oldest ones go first.
const kept = 1000;

const pcm = { type: "audio/pcm", rate: 24000 };

// session is what session.created says, before a test changes it.
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

// merge puts a patch over an object: objects are merged, and all else takes the place of what was there.
export const merge = (whole, patch) => {
  const made = { ...whole };
  for (const [key, value] of Object.entries(patch ?? {})) made[key] = isObject(value) && isObject(made[key]) ? merge(made[key], value) : value;
  return made;
};

const wordsOf = ({ content = [] }) => content.map(({ text, transcript }) => text ?? transcript ?? "").join(" ").trim();

// Conversation is what a server knows of one call.
export class Conversation {
  session;
  items = new Map();

  #count = 0;

  constructor(patch) {
    this.session = merge(session(), patch);
  }

  // add keeps an item and gives it with what a server fills in, and the one before it.
  add(item) {
    const whole = { id: `item_${++this.#count}`, object: "realtime.item", status: "completed", ...item };
    const ids = [...this.items.keys()];
    const at = ids.indexOf(whole.id);
    const previous = ids[(at < 0 ? ids.length : at) - 1] ?? null;
    this.items.set(whole.id, whole);
    if (this.items.size > kept) this.items.delete(this.items.keys().next().value);
    return { item: whole, previous_item_id: previous };
  }

  // truncate leaves of a spoken item what was heard of it.
  truncate(id, ms) {
    const item = this.items.get(id);
    if (!item) return false;
    const cut = (part) => (part.transcript === undefined || part.transcript === null ? part : { ...part, transcript: heard(part.transcript, ms) });
    this.items.set(id, { ...item, content: (item.content ?? []).map(cut) });
    return true;
  }

  // asked is what a response is to answer.
  asked() {
    const all = [...this.items.values()];
    const said = all.findLast(({ type, role }) => type === "message" && role === "user");
    const last = all.at(-1);
    const outputs = all.slice(all.findLastIndex(({ type }) => type !== "function_call_output") + 1);
    return { text: said ? wordsOf(said) : "", item: last ?? null, outputs: outputs.map(({ call_id, output }) => ({ callId: call_id, output })) };
  }
}
