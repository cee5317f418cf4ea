// What a call over WebRTC and one over a WebSocket share in the browser: the microphone, the capture worklet and sending events.

// devices returns the browser's media devices, or undefined where a page has none.
export const devices = () => globalThis.navigator?.mediaDevices;

// named returns an error with a name, as the browser's own errors have.
export const named = (name, message) => Object.assign(new Error(message), { name });

// stop stops all tracks of a stream.
export const stop = (stream) => stream.getTracks().forEach((track) => track.stop());

// The inputs of the worklet antiphon-capture.
const microphoneInput = 0;
export const agentInput = 1;

// BasePeer is one call; Peer and Socket extend it. o are the options of begin (begin.js), and o.muted begins with a muted microphone.
// host is the object of host.js with the functions of begin.js. BasePeer reports what happens through tell, never while one of its
// methods runs.
export class BasePeer {
  closed = false;
  muted;
  #gone = new AbortController(); // removes the listeners when the call ends
  #stream = null; // the microphone's
  #own = false; // the stream was opened here, so it is stopped here
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

  // on calls f for each event of this type until the call ends.
  on(target, type, f, signal = this.#gone.signal) {
    target?.addEventListener?.(type, f, { signal });
  }

  // first opens the microphone that the call begins with, or takes the given or inherited stream. It returns the device's id.
  async first(inherited, signal) {
    const { mediaStream, microphone } = this.o;
    return this.#use(mediaStream ?? inherited ?? (await (this.begun?.stream ?? this.host.microphone(microphone))), !mediaStream, signal);
  }

  // open changes the microphone and returns the device's id. When it fails, the old microphone stays in use.
  async open(id, signal) {
    return this.#use(await this.host.microphone(id, true), true, signal);
  }

  // use sends this stream from now on and returns its device's id. It stops a stream of our own that cannot be used.
  async #use(stream, own, signal) {
    const [track] = stream.getAudioTracks();
    try {
      if (!track || this.closed || signal.aborted) throw named("NotFoundError", "the microphone gives no sound");
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

  // drop lets go of the microphone.
  #drop() {
    this.#unplugged?.abort();
    if (this.#own && this.#stream) stop(this.#stream);
    this.#stream = null;
  }

  // speaks reports whether the call has a microphone.
  get speaks() {
    return this.#stream !== null;
  }

  // inherit returns a copy of the microphone's stream for the call that follows, or null when there is none. This call keeps its own
  // stream until it is closed.
  inherit() {
    return this.closed || !this.#own ? null : (this.#stream?.clone?.() ?? null);
  }

  mute(muted) {
    this.muted = muted;
    const track = this.#stream?.getAudioTracks()[0];
    if (track) track.enabled = !muted;
  }

  // listen makes the audio context, at this rate in hertz or at the device's own (0). It returns the rate, or 0 where the page cannot
  // have one. Once the worklet runs, heard gets every 10 ms of both sides, and whether the agent's sound is among them.
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

  // start loads the capture worklet. It returns false where there can be none.
  async start(module) {
    if (!this.context?.audioWorklet) return false;
    await this.context.audioWorklet.addModule(module);
    if (this.closed) return true;
    this.#node = new AudioWorkletNode(this.context, "antiphon-capture", { numberOfInputs: 2, numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    this.#node.port.onmessage = this.heard;
    this.#sources.forEach((source, input) => source?.connect(this.#node, 0, input));
    return true;
  }

  // hear connects a stream to an input of the capture worklet; without a stream the input is silent. A stream that has no audio yet
  // cannot be connected.
  #hear(input, stream) {
    let source;
    try {
      source = stream && this.context?.createMediaStreamSource(stream);
    } catch {} // the input stays silent
    this.source(input, source);
  }

  // source connects an audio node to an input of the capture worklet, in place of the one before. A page may have the host told of both nodes: a
  // fault of the page does not concern the call.
  source(input, source) {
    const before = this.#sources[input];
    before?.disconnect();
    this.#sources[input] = source;
    if (this.#node) source?.connect(this.#node, 0, input);
    try {
      this.host.sourced?.(input, source, before);
    } catch (error) {
      console.error(error);
    }
  }

  // hearAgent connects the agent's stream to the capture worklet.
  hearAgent(stream) {
    this.#hear(agentInput, stream);
  }

  // hears reports whether the capture worklet delivers frames.
  get hears() {
    return this.#node !== null && this.context.state === "running";
  }

  // sound starts the audio that has waited for a gesture of the user.
  sound() {
    if (this.context?.state === "suspended") this.context.resume();
  }

  // send sends an event. It returns nothing, "full" when more than most characters would wait to be sent, or the error.
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
    if (audio.srcObject && audio.srcObject !== this.playing) return; // the element plays another call already
    audio.pause?.();
    audio.srcObject = null;
  }
}
