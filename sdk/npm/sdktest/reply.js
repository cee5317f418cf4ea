// The class Reply: a response that a test's server makes step by step.

// msPerWord is the duration of a word's audio, in ms.
export const msPerWord = 300;

const split = (words) => words.match(/\S+/g) ?? [];

// sound returns audio for the words: silence, as 16-bit PCM at 24 kHz in base64.
const sound = (words) => "A".repeat(((24 * 2 * msPerWord) / 3) * 4 * split(words).length);

// heard returns the words that are played in the first ms milliseconds.
export const heard = (words, ms) => split(words).slice(0, Math.floor(ms / msPerWord)).join(" ");

// Reply is a response of the agent. Its methods send events, and wait until the page has received them.
export class Reply {
  #to; // sends events and knows the conversation: #to of the Server
  #written;
  #words = "";
  #message = false;
  #output = []; // finished items
  #over = false;

  constructor(to, response, written) {
    this.response = response;
    this.item = `item_${response}`;
    this.#to = to;
    this.#written = written;
    this.#tell("response.created", { response: this.#response("in_progress") });
  }

  // Whether the response is still being made.
  get live() {
    return !this.#over;
  }

  // say makes the next words, and over a WebSocket their audio.
  say(words) {
    this.#begin();
    this.#words += words;
    const part = { item_id: this.item, output_index: 0, content_index: 0 };
    this.#tell(this.#written ? "response.output_text.delta" : "response.output_audio_transcript.delta", { ...part, delta: words });
    const delta = this.#written || this.#to.tracks ? "" : sound(words);
    if (delta) this.#tell("response.output_audio.delta", { ...part, delta });
    return this.#to.settled();
  }

  // call makes a tool call.
  call(name, given = {}, callId = `call_${this.response}_${this.#output.length + 1}`) {
    const args = typeof given === "string" ? given : JSON.stringify(given);
    const item = { id: `item_${callId}`, object: "realtime.item", type: "function_call", status: "completed", call_id: callId, name, arguments: args };
    const at = { output_index: this.#output.length + (this.#message ? 1 : 0) };
    this.#added({ ...item, status: "in_progress", arguments: "" }, at);
    this.#tell("response.function_call_arguments.delta", { ...at, item_id: item.id, call_id: callId, delta: args });
    this.#tell("response.function_call_arguments.done", { ...at, item_id: item.id, call_id: callId, name, arguments: args });
    this.#done(item, at);
    return this.#to.settled();
  }

  // made ends the response; its audio may still be playing.
  made() {
    return this.#end("completed");
  }

  // stopped: its audio has been played to the end.
  stopped() {
    if (this.#to.tracks) this.#tell("output_audio_buffer.stopped");
    else this.#to.heard(Infinity);
    return this.#to.settled();
  }

  // end ends the response and plays its audio to the end.
  end() {
    this.made();
    return this.#written ? this.#to.settled() : this.stopped();
  }

  fail(code = "server_error", message = "the answer failed") {
    return this.#end("failed", { error: { type: "server_error", code, message } });
  }

  // cancel cancels the response, as a server does on request.
  cancel(reason = "client_cancelled") {
    return this.#end("cancelled", { reason });
  }

  // interrupt begins a turn of the user, with the id item, in the middle of the response. heardMs is how much of the response was
  // played; left out, it is the played position, or over WebRTC the end of all words so far.
  interrupt(item, heardMs) {
    if (heardMs !== undefined) this.#to.heard(heardMs);
    this.#to.tell({ type: "input_audio_buffer.speech_started", item_id: item, audio_start_ms: 0 });
    if (this.#to.tracks) this.#tell("output_audio_buffer.cleared");
    this.cancel("turn_detected");
    if (this.#to.tracks && this.#message) this.#to.truncate(this.item, heardMs ?? split(this.#words).length * msPerWord);
    return this.#to.settled();
  }

  #begin() {
    if (this.#over) throw new Error(`the reply ${this.response} has ended: it says no more`);
    if (this.#message) return;
    this.#message = true;
    const at = { output_index: 0 };
    this.#added(this.#item("in_progress", false), at);
    const part = this.#written ? { type: "text", text: "" } : { type: "audio", transcript: "" };
    this.#tell("response.content_part.added", { ...at, item_id: this.item, content_index: 0, part });
    if (this.#to.tracks && !this.#written) this.#tell("output_audio_buffer.started");
  }

  #end(status, details) {
    if (this.#over) return this.#to.settled();
    this.#over = true;
    if (this.#message) this.#say(status);
    const response = { ...this.#response(status), output: this.#output, status_details: details ? { type: status, ...details } : null };
    this.#tell("response.done", { response });
    this.#to.over(this);
    return this.#to.settled();
  }

  #say(status) {
    const at = { output_index: 0 };
    const part = { ...at, item_id: this.item, content_index: 0 };
    if (this.#written) this.#tell("response.output_text.done", { ...part, text: this.#words });
    else {
      if (!this.#to.tracks) this.#tell("response.output_audio.done", part);
      this.#tell("response.output_audio_transcript.done", { ...part, transcript: this.#words });
    }
    const whole = this.#written ? { type: "text", text: this.#words } : { type: "audio", transcript: this.#words };
    this.#tell("response.content_part.done", { ...part, part: whole });
    this.#done(this.#item(status === "completed" ? status : "incomplete", true), at);
  }

  #item(status, whole) {
    const content = this.#written ? { type: "output_text", text: this.#words } : { type: "output_audio", transcript: this.#words };
    return { id: this.item, object: "realtime.item", type: "message", role: "assistant", status, content: whole ? [content] : [] };
  }

  #added(item, at) {
    if (this.#over) throw new Error(`the reply ${this.response} has ended: it calls nothing more`);
    this.#tell("response.output_item.added", { ...at, item });
    this.#to.add(item, "conversation.item.added");
  }

  #done(item, at) {
    this.#output.push(item);
    this.#tell("response.output_item.done", { ...at, item });
    this.#to.add(item, "conversation.item.done");
  }

  // response returns the protocol's response object.
  #response(status) {
    const modalities = [this.#written ? "text" : "audio"];
    return { id: this.response, object: "realtime.response", status, status_details: null, output: [], conversation_id: "conv_test", output_modalities: modalities, usage: null };
  }

  #tell(type, fields) {
    this.#to.tell({ type, response_id: type === "response.created" || type === "response.done" ? undefined : this.response, ...fields });
  }
}
