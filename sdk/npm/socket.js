// A call over a WebSocket. It plays the agent's audio through the worklet antiphon-playout.

import { agentInput, BasePeer } from "./base_peer.js";

export class Socket extends BasePeer {
  #playout = null;
  #gain;

  // speak makes the playout worklet. played gets the played position, in samples since the call began, each time it changes.
  async speak(played) {
    const { context } = this;
    this.#playout = new AudioWorkletNode(context, "antiphon-playout", { numberOfInputs: 0, outputChannelCount: [1] });
    this.#gain = context.createGain();
    this.#playout.connect(this.#gain);
    this.#gain.connect(context.destination);
    this.source(agentInput, this.#gain);
    this.#playout.port.onmessage = ({ data }) => played(data);
    this.on(context, "statechange", () => this.tell("blocked", this.blocked));
  }

  // play gives audio to the playout worklet, as the bytes of 32-bit floats. from is its position in samples.
  play(from, bytes) {
    this.post({ from, samples: new Float32Array(bytes.buffer) });
  }

  // post sends a message to the playout worklet: see take in worklet.js.
  post(message) {
    this.#playout?.port.postMessage(message);
  }

  // gain sets how loud the agent is played, 0 to 1.
  gain(gain) {
    this.#gain.gain.value = gain;
  }

  // blocked reports whether the browser waits for a gesture of the user before it plays.
  get blocked() {
    return this.context.state === "suspended";
  }

  // connect opens the connection: a new call, or with a token the continuation of an earlier one after the event with the id after. It
  // returns the error if it cannot.
  connect(token, after) {
    const { url, key, model } = this.o;
    const query = token
      ? `?antiphon_resume=${encodeURIComponent(token)}&antiphon_resume_after=${encodeURIComponent(after)}`
      : model
        ? `?model=${encodeURIComponent(model)}`
        : "";
    const address = `${(url || location.origin).replace(/^http/, "ws")}/v1/realtime${query}`;
    try {
      this.channel = new WebSocket(address, ["realtime", ...(key ? [`openai-insecure-api-key.${key}`] : [])]);
    } catch (error) {
      return error;
    }
    this.on(this.channel, "open", () => this.tell("open"));
    this.on(this.channel, "close", ({ wasClean }) => this.tell("close", wasClean));
    this.on(this.channel, "message", ({ data }) => this.tell("message", data));
  }

  close() {
    if (this.#playout) {
      this.#playout.port.onmessage = null;
      this.post({ close: true });
      this.#playout.disconnect();
    }
    super.close();
  }
}
