// A call over WebRTC.

import { answered } from "./answer.js";
import { Line, stop } from "./line.js";

// How much of the agent's sound the browser is asked to hold back against a jumpy network, how much of it is between the decoder and the
// place where the volume is applied, and how far the playback is taken to go on behind the last packet, in ms; and the clock of Opus.
const jitterTarget = 20;
const block = 10;
const maxAhead = 100;
const rtpPerMS = 48;

export class Peer extends Line {
  #receiver; // of the agent's track
  #poll;

  // begin places the call, or takes over the one that was begun. It gives why it cannot.
  begin(inherited, headers) {
    try {
      this.begun = this.o.begun ?? this.#place(inherited, headers);
    } catch (error) {
      if (inherited) stop(inherited);
      return error;
    }
    const { begun, tell } = this;
    const { connection, channel } = begun;
    Object.assign(this, { connection, channel, sender: begun.sender });
    this.on(channel, "open", () => tell("open"));
    this.on(channel, "close", () => tell("close", true));
    this.on(channel, "message", ({ data }) => tell("message", data));
    this.on(connection, "connectionstatechange", () => tell("state", connection.connectionState));
    this.on(connection, "track", (event) => this.#play(event));
    begun.release();
    // Nothing can happen in between.
    queueMicrotask(() => {
      if (channel.readyState === "open") tell("open");
      for (const data of begun.messages) tell("message", data);
      if (begun.track) this.#play(begun.track);
      if (connection.connectionState === "failed") tell("state", "failed");
    });
  }

  #place(stream, headers) {
    const control = new AbortController();
    return { ...this.host.begin(this.o, stream, { headers, signal: control.signal }), hangUp: () => control.abort() };
  }

  // answered gives what the server has answered, applied that its description was one.
  async answered() {
    return answered(await this.begun.answer);
  }

  applied() {
    return this.begun.applied;
  }

  // restart offers the call again at its address, for a new way through the network, and gives the answer.
  async restart(location, signal) {
    const { host, connection, o } = this;
    const response = await host.post(o, `${location}/restart`, await host.offered(connection, { iceRestart: true }), { signal });
    const told = await answered(response);
    return told.status ? told : { ...told, sdp: await response.text() };
  }

  accept(sdp) {
    return this.connection.setRemoteDescription({ type: "answer", sdp });
  }

  // connected waits until the connection stands.
  connected(signal) {
    const { connection } = this;
    return new Promise((resolve) => {
      const look = () => connection.connectionState === "connected" && resolve();
      this.on(connection, "connectionstatechange", look, signal);
      look();
    });
  }

  #play({ streams, track, receiver }) {
    this.playing = streams[0] ?? new MediaStream([track]);
    this.o.audio.srcObject = this.playing;
    this.#receiver = receiver;
    if (receiver) Reflect.set(receiver, "jitterBufferTarget", jitterTarget); // a browser without it takes its own
    this.hearAgent(this.playing);
    this.tell("track");
  }

  async sound() {
    super.sound();
    const { audio } = this.o;
    if (!audio.srcObject) return;
    const error = await audio.play().catch((thrown) => thrown);
    this.tell("blocked", error?.name === "NotAllowedError");
  }

  // mark is the place in the agent's sound at which a volume that is set now is heard, as an RTP timestamp; undefined while that is not
  // known. The browser tells the timestamp of the last packet that it has decoded, and when that was: since 1970, or since the page
  // began. What is beyond the volume, on its way to the ear, is heard as it is.
  mark() {
    let last;
    try {
      [last] = this.#receiver.getSynchronizationSources();
    } catch {} // nothing is played
    if (this.closed || typeof last?.rtpTimestamp !== "number") return;
    const { timeOrigin } = performance;
    const now = performance.now() + (last.timestamp > timeOrigin / 2 ? timeOrigin : 0);
    const since = Math.min(Math.max(now - last.timestamp, 0), maxAhead);
    return (last.rtpTimestamp + (since - block) * rtpPerMS) >>> 0;
  }

  // poll has the program look at the playback every so many ms, until 0.
  poll(every) {
    clearInterval(this.#poll);
    this.#poll = every && setInterval(() => this.tell("look"), every);
  }

  close() {
    this.poll(0);
    if (this.channel?.readyState === "connecting") this.begun.hangUp(); // else the server would wait for it for a while
    super.close();
    this.connection?.close();
  }
}
