// A call over WebRTC: connection, data channel and the agent's track.

import { answered } from "./answer.js";
import { BasePeer, stop } from "./base_peer.js";

const jitterTarget = 20; // ms; how much audio the browser is asked to keep in its jitter buffer
const block = 10; // ms; how much audio is between the decoder and the point where the volume is applied
const maxAhead = 100; // ms; the longest time that playback is assumed to go on after the last packet
const rtpPerMS = 48; // the RTP clock of Opus
const countEvery = 250; // ms; how often the received packets are counted. A hidden page counts each second.
const pathEvery = 50; // ms; how often a restart looks whether the new network path carries packets

// passed waits for so many ms.
const passed = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Peer extends BasePeer {
  #receiver; // of the agent's track
  #poll;

  // begin places the call, or takes over the one that the page's script has begun. It returns the error if it cannot.
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
    // Reports what happened before the listeners were there. No event of the browser can come before this microtask.
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

  // answered returns the fields of the server's response. applied waits until the answer's description is set.
  async answered() {
    return answered(await this.begun.answer);
  }

  applied() {
    return this.begun.applied;
  }

  // restart restarts ICE: it sends a new offer for the call at its location and returns the response's fields with the answer's SDP. An empty offer changes nothing.
  async restart(location, empty, signal) {
    const { host, connection, o } = this;
    const response = await host.post(o, `${location}/restart`, empty ? "" : await host.offered(connection, { iceRestart: true }), { signal });
    const answer = await answered(response);
    return answer.status ? answer : { ...answer, sdp: await response.text() };
  }

  accept(sdp) {
    return this.connection.setRemoteDescription({ type: "answer", sdp });
  }

  // connected waits until the network path of a restart carries packets. Until the browser has noticed that the path before is dead, it
  // takes the connection for connected. The server has left that path when it answers, so a packet that comes now came over the new one.
  async connected(signal) {
    const before = await this.#received();
    while (!this.closed && !signal.aborted) {
      if (this.connection.connectionState === "connected" && (before === undefined || (await this.#received()) !== before)) return;
      await passed(pathEvery);
    }
  }

  // received returns how many packets of the agent have come; undefined before its track, or in a browser that does not say.
  async #received() {
    try {
      for (const one of (await this.#receiver.getStats()).values()) if (one.type === "inbound-rtp") return one.packetsReceived;
    } catch {}
  }

  // count tells how many packets of the agent have come, until the call ends.
  async #count() {
    for (; !this.closed; await passed(countEvery)) {
      const received = await this.#received();
      if (received) this.tell("packets", received);
    }
  }

  // play plays the agent's track and connects it to the capture worklet.
  #play({ streams, track, receiver }) {
    this.playing = streams[0] ?? new MediaStream([track]);
    this.o.audio.srcObject = this.playing;
    this.#receiver = receiver;
    if (receiver) Reflect.set(receiver, "jitterBufferTarget", jitterTarget); // a browser without it uses its own target
    this.hearAgent(this.playing);
    this.tell("track");
    if (receiver) this.#count();
  }

  async sound() {
    super.sound();
    const { audio } = this.o;
    if (!audio.srcObject) return;
    const error = await audio.play().catch((thrown) => thrown);
    this.tell("blocked", error?.name === "NotAllowedError");
  }

  // mark returns the position in the agent's audio at which a volume that is set now takes effect, as an RTP timestamp, or undefined
  // while it is not known. The browser tells the timestamp of the last packet that it has decoded, and when that was, in ms since 1970
  // or since the page began. Audio that has already passed the volume control keeps its level.
  mark() {
    let last;
    try {
      [last] = this.#receiver.getSynchronizationSources();
    } catch {} // there is no track yet
    if (this.closed || typeof last?.rtpTimestamp !== "number") return;
    const { timeOrigin } = performance;
    const now = performance.now() + (last.timestamp > timeOrigin / 2 ? timeOrigin : 0);
    const since = Math.min(Math.max(now - last.timestamp, 0), maxAhead);
    return (last.rtpTimestamp + (since - block) * rtpPerMS) >>> 0;
  }

  // poll tells the program every so many ms to look at the playback; 0 ends it.
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
