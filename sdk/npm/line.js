// What a call has in the browser, whatever way it takes: the microphone, and the capture worklet beside it.

export const devices = () => globalThis.navigator?.mediaDevices;

export const named = (name, message) => Object.assign(new Error(message), { name });

export const stop = (stream) => stream.getTracks().forEach((track) => track.stop());

// The inputs of the worklet antiphon-capture.
const microphoneInput = 0;
export const agentInput = 1;

// Line is one call. Its options o are those of begin (begin.js), which is a method of host's like all that is there; o.muted begins
// with a closed microphone. What happens is told to tell, never while one of the methods is called.
export class Line {
  closed = false;
  muted;
  #gone = new AbortController(); // lets go of what is listened to
  #stream = null; // the microphone's
  #own = false; // it was opened here, and is stopped here
  #unplugged;
  #sources = []; // of the capture worklet, by input
  #node = null; // the capture worklet; null until it runs

  constructor(host, o, tell) {
    this.host = host;
    this.o = o;
    this.muted = o.muted;
    this.tell = (...told) => this.closed || tell(...told);
    this.on(devices(), "devicechange", () => this.tell("devices"));
  }

  // on has f told of an event for as long as the call lasts.
  on(target, type, f, signal = this.#gone.signal) {
    target?.addEventListener?.(type, f, { signal });
  }

  // first opens the microphone that the call begins with, or takes the one that there is. It gives the device's id.
  async first(inherited, signal) {
    const { mediaStream, microphone } = this.o;
    return this.#use(mediaStream ?? inherited ?? (await (this.begun?.stream ?? this.host.microphone(microphone))), !mediaStream, signal);
  }

  // open changes the microphone. The old one stays in use when it fails.
  async open(id, signal) {
    return this.#use(await this.host.microphone(id, true), true, signal);
  }

  // use sends this stream from now on. One that cannot be used is stopped.
  async #use(stream, own, signal) {
    const [track] = stream.getAudioTracks();
    try {
      if (!track || this.closed || signal.aborted) throw named("NotFoundError", "it gives no sound");
      track.enabled = !this.muted;
      await this.sender?.replaceTrack(track);
      if (this.closed) throw named("AbortError", "the call is over");
    } catch (error) {
      if (own) stop(stream);
      throw error;
    }
    this.#drop();
    [this.#stream, this.#own] = [stream, own];
    track.enabled = !this.muted;
    this.#unplugged = new AbortController();
    this.on(track, "ended", () => this.tell("unplugged"), this.#unplugged.signal);
    this.#hear(microphoneInput, stream);
    return track.getSettings?.().deviceId ?? "";
  }

  #drop() {
    this.#unplugged?.abort();
    if (this.#own && this.#stream) stop(this.#stream);
    this.#stream = null;
  }

  get speaks() {
    return this.#stream !== null;
  }

  // inherit gives the call that follows a microphone; null when this one has none. It is a copy: this call goes on with its own until
  // it is closed.
  inherit() {
    return this.closed || !this.#own ? null : (this.#stream?.clone?.() ?? null);
  }

  mute(muted) {
    this.muted = muted;
    const track = this.#stream?.getAudioTracks()[0];
    if (track) track.enabled = !muted;
  }

  // listen begins to listen, at this rate in hertz or at the device's own (0). It gives the rate, 0 where there is no sound for a page.
  // Every 10 ms of both sides are given to heard, and whether the agent is among them.
  listen(rate, heard) {
    this.context?.close();
    try {
      this.context = new AudioContext({ latencyHint: "interactive", sampleRate: rate || undefined });
    } catch {
      return 0;
    }
    this.heard = ({ data }) => heard(data, Boolean(this.#sources[agentInput]));
    return this.context.sampleRate;
  }

  // start loads the worklet that listens. It gives false where there can be none.
  async start(module) {
    if (!this.context?.audioWorklet) return false;
    await this.context.audioWorklet.addModule(module);
    if (this.closed) return true;
    this.#node = new AudioWorkletNode(this.context, "antiphon-capture", { numberOfInputs: 2, numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    this.#node.port.onmessage = this.heard;
    this.#sources.forEach((source, input) => source?.connect(this.#node, 0, input));
    return true;
  }

  // hear listens to another stream; none gives silence. One that gives no audio yet cannot be listened to.
  #hear(input, stream) {
    let source;
    try {
      source = stream && this.context?.createMediaStreamSource(stream);
    } catch {} // it is not heard here
    this.source(input, source);
  }

  source(input, source) {
    this.#sources[input]?.disconnect();
    this.#sources[input] = source;
    if (this.#node) source?.connect(this.#node, 0, input);
  }

  hearAgent(stream) {
    this.#hear(agentInput, stream);
  }

  // hears: frames come.
  get hears() {
    return this.#node !== null && this.context.state === "running";
  }

  // sound has what waits for a gesture be heard.
  sound() {
    if (this.context?.state === "suspended") this.context.resume();
  }

  // send gives nothing, "full" when too much waits to be sent, or why it cannot be sent.
  send(text, most) {
    const { channel } = this;
    if (this.closed || !(channel?.readyState === "open" || channel?.readyState === 1)) return named("InvalidStateError", "the channel is not open");
    if (channel.bufferedAmount + text.length > most) return "full";
    try {
      channel.send(text);
    } catch (error) {
      return error;
    }
  }

  close() {
    this.closed = true;
    this.#gone.abort();
    this.#drop();
    if (this.#node) {
      this.#node.port.onmessage = null;
      this.#node.port.postMessage("close");
    }
    this.source(microphoneInput);
    this.source(agentInput);
    if (this.context && this.context.state !== "closed") this.context.close();
    this.channel?.close();
    const { audio } = this.o;
    if (audio.srcObject && audio.srcObject !== this.playing) return; // another call is heard already
    audio.pause?.();
    audio.srcObject = null;
  }
}
