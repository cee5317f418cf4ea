// Records both sides of the call in this browser, on the user's request: the user is the left channel, the agent the right one. The file goes to the
// user alone. The recording ends with the call. It pauses while a lost call connects again.

const longest = 2 * 60 * 60 * 1000; // ms; the page holds the recording in memory: 29 MB an hour
const bitsPerSecond = 64000;
const kinds = { "audio/webm;codecs=opus": "webm", "audio/ogg;codecs=opus": "ogg", "audio/mp4": "m4a" };
const button = document.getElementById("record");
const sources = []; // the audio nodes of the call: of the user, and of the agent
let recording = null;

class Recording {
  #context;
  #channels;
  #inputs = [];
  #parts = [];
  #recorder;

  constructor(sampleRate) {
    this.#context = new AudioContext({ sampleRate });
    this.#channels = this.#context.createChannelMerger(2);
    const target = this.#context.createMediaStreamDestination();
    this.#channels.connect(target);
    const mimeType = Object.keys(kinds).find((kind) => MediaRecorder.isTypeSupported(kind));
    this.#recorder = new MediaRecorder(target.stream, { mimeType, audioBitsPerSecond: bitsPerSecond });
    this.#recorder.ondataavailable = ({ data }) => this.#parts.push(data);
    this.#recorder.onstop = () => this.#save(kinds[mimeType] ?? "audio");
    const end = performance.now() + longest;
    this.watch = setInterval(() => (performance.now() > end || document.getElementById("state")?.dataset.state === "idle") && stop(), 1000);
    sources.forEach((source, side) => this.hear(side, source));
    this.#recorder.start();
  }

  // hear records an audio node of a call as a side, in place of the one before. Its context is that of the call.
  hear(side, source) {
    this.#inputs[side]?.disconnect();
    this.#inputs[side] = null;
    if (source) {
      const out = source.context.createMediaStreamDestination();
      source.connect(out);
      this.#inputs[side] = this.#context.createMediaStreamSource(out.stream);
      this.#inputs[side].connect(this.#channels, 0, side);
    }
    if (this.#recorder.state !== "inactive") this.#recorder[sources.some(Boolean) ? "resume" : "pause"]();
  }

  stop() {
    clearInterval(this.watch);
    this.#recorder.stop();
  }

  #save(ending) {
    this.#inputs.forEach((input) => input?.disconnect());
    this.#context.close();
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

// sourced is for the program's host: a call has other audio nodes. The call that follows a lost one has its nodes before those of the lost one go.
export const sourced = (side, source, before) => {
  if (!source && sources[side] !== before) return;
  sources[side] = source;
  recording?.hear(side, source);
  show();
};

button.addEventListener("click", () => {
  if (recording) return stop();
  try {
    recording = new Recording(sources.find(Boolean).context.sampleRate);
    show();
  } catch (error) {
    console.error(error);
    document.getElementById("record-note").textContent = `This browser cannot record the call: ${error.message}.`;
  }
});
addEventListener("beforeunload", (event) => recording && event.preventDefault()); // the browser asks the user
show();
