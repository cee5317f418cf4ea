// The fake of WebRTC: connections with a data channel for events. There are no tracks: the server only reports in events what is played.

import { Target } from "./events.js";
import { task } from "./tasks.js";

// offered has the connections by the names of their offers, until they are answered or closed.
const offered = new Map();
let number = 0;

class Channel extends Target {
  readyState = "connecting";
  bufferedAmount = 0;
  connection = { transport: "webrtc", deliver: (text) => this.readyState === "open" && this.emit("message", { data: text }) };

  constructor(label) {
    super();
    this.label = label;
  }

  send(text) {
    if (this.readyState !== "open") throw new DOMException("the channel is not open", "InvalidStateError");
    this.connection.take?.(String(text));
  }

  close() {
    if (this.readyState === "closed") return;
    this.readyState = "closed";
    this.connection.gone?.();
    task(() => this.emit("close"));
  }
}

// Connection is the page's fake RTCPeerConnection to a Server.
export class Connection extends Target {
  connectionState = "new";
  iceConnectionState = "new";
  signalingState = "stable";
  localDescription = null;
  remoteDescription = null;

  #channel = null;
  #transceivers = [];
  #offer = `sdktest-${++number}`;
  #server = null;

  addTransceiver(track, { direction = "sendrecv" } = {}) {
    const sender = { track: null, replaceTrack: async (next) => void (sender.track = next), getStats: async () => new Map() };
    const made = { sender, receiver: { getSynchronizationSources: () => [], getStats: async () => new Map() }, direction };
    this.#transceivers.push(made);
    return made;
  }

  createDataChannel(label) {
    this.#channel = new Channel(label);
    this.#channel.connection.end = (clean) => (clean ? this.#channel.close() : this.#become("failed"));
    this.#channel.connection.become = (state) => this.#become(state);
    return this.#channel;
  }

  async createOffer() {
    return { type: "offer", sdp: `v=0\r\ns=${this.#offer}\r\n` };
  }

  async setLocalDescription(description) {
    this.localDescription = description;
    offered.set(this.#offer, this);
  }

  // setRemoteDescription connects the connection and opens the channel, in a later task.
  async setRemoteDescription(description) {
    this.remoteDescription = description;
    if (!this.#server || !this.#channel) throw new DOMException("this is no answer of a Server's", "InvalidAccessError");
    task(() => {
      if (this.connectionState === "closed" || this.#channel.readyState !== "connecting") return;
      this.#become("connected");
      this.#channel.readyState = "open";
      this.#channel.emit("open");
      this.#server.began(this.#channel.connection);
    });
  }

  // answered notes the server that has taken the offer.
  answered(server) {
    this.#server = server;
  }

  getSenders = () => this.#transceivers.map(({ sender }) => sender);
  getReceivers = () => this.#transceivers.map(({ receiver }) => receiver);
  getTransceivers = () => [...this.#transceivers];
  getStats = async () => new Map();

  restartIce() {}

  close() {
    offered.delete(this.#offer);
    this.connectionState = this.iceConnectionState = this.signalingState = "closed";
    this.#channel?.close();
  }

  #become(state) {
    if (this.connectionState === "closed") return;
    this.connectionState = this.iceConnectionState = state;
    this.emit("connectionstatechange");
    this.emit("iceconnectionstatechange");
  }
}

// connectionOf returns the connection that has made this offer, once, or undefined.
export const connectionOf = (sdp) => {
  const name = /^s=(sdktest-\d+)/m.exec(String(sdp))?.[1];
  const connection = offered.get(name);
  offered.delete(name);
  return connection;
};
