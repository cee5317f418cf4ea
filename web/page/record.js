// Records both sides of a call in this browser, on the user's request: the user is the left channel, the agent the right one. The file goes to the
// user alone. The recording ends with the call. It pauses while a lost call connects again.

const longest = 2 * 60 * 60 * 1000; // ms; the page holds the recording in memory: 29 MB an hour
const bitsPerSecond = 64000;
const kinds = { "audio/webm;codecs=opus": "webm", "audio/ogg;codecs=opus": "ogg", "audio/mp4": "m4a" };
const button = document.getElementById("record");
const note = document.getElementById("record-note");
const sources = []; // the audio nodes of the call: of the user, and of the agent
let recording = null;

class Recording {
  #context;
  #channels;
  #inputs = []; // by side: the node of the call, what it leads to in its context, and the node in ours
  #parts = [];
  #recorder;

  constructor(sampleRate) {
    this.#context = new AudioContext({ sampleRate });
    try {
      this.#channels = this.#context.createChannelMerger(2);
      const target = this.#context.createMediaStreamDestination();
      this.#channels.connect(target);
      const mimeType = Object.keys(kinds).find((kind) => MediaRecorder.isTypeSupported(kind));
      this.#recorder = new MediaRecorder(target.stream, { mimeType, audioBitsPerSecond: bitsPerSecond });
      this.#recorder.ondataavailable = ({ data }) => this.#parts.push(data);
      this.#recorder.onstop = () => this.#save(kinds[mimeType] ?? "audio");
      sources.forEach((source, side) => this.hear(side, source));
      this.#recorder.start();
    } catch (error) {
      this.#end();
      throw error;
    }
    this.limit = setTimeout(stop, longest);
  }

  // hear records an audio node of a call as a side, in place of the one before. Its context is that of the call.
  hear(side, source) {
    this.#leave(side);
    if (source) {
      const out = source.context.createMediaStreamDestination();
      const input = this.#context.createMediaStreamSource(out.stream);
      source.connect(out);
      input.connect(this.#channels, 0, side);
      this.#inputs[side] = { source, out, input };
    }
    if (this.#recorder.state !== "inactive") this.#recorder[sources.some(Boolean) ? "resume" : "pause"]();
  }

  // leave disconnects a side. The call may have disconnected its node already.
  #leave(side) {
    const { source, out, input } = this.#inputs[side] ?? {};
    this.#inputs[side] = null;
    input?.disconnect();
    try {
      source?.disconnect(out);
    } catch {}
  }

  stop() {
    clearTimeout(this.limit);
    this.#recorder.stop();
  }

  #end() {
    [0, 1].forEach((side) => this.#leave(side));
    this.#context.close();
  }

  #save(ending) {
    this.#end();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(this.#parts, { type: this.#recorder.mimeType }));
    link.download = `antiphon-${new Date().toISOString().slice(0, 16).replace(":", "-")}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

const show = () => {
  button.disabled = !recording && !sources.some(Boolean);
  button.textContent = recording ? "Stop and save" : "Start recording";
  document.documentElement.toggleAttribute("data-recording", Boolean(recording));
};

const stop = () => {
  recording?.stop();
  recording = null;
  show();
};

const failed = (error) => {
  console.error(error);
  note.textContent = `This browser cannot record the call: ${error.message}.`;
};

// sourced is for the program's host: a call has other audio nodes. The call that follows a lost one has its nodes before those of the lost one go.
export const sourced = (side, source, before) => {
  if (!source && sources[side] !== before) return;
  sources[side] = source;
  try {
    recording?.hear(side, source);
  } catch (error) {
    failed(error);
    stop(); // what was recorded is saved
  }
  show();
};

// A call is over when the page says that it is idle, or why it failed.
new MutationObserver(() => ["idle", "error"].includes(document.getElementById("state")?.dataset.state) && recording && stop()).observe(document.body, {
  subtree: true,
  attributeFilter: ["data-state"],
});

button.addEventListener("click", () => {
  if (recording) return stop();
  try {
    recording = new Recording(sources.find(Boolean).context.sampleRate);
  } catch (error) {
    failed(error);
  }
  show();
});
addEventListener("beforeunload", (event) => recording && event.preventDefault()); // the browser asks the user
show();
