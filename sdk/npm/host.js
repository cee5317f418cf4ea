// The browser's part of what the program does (package sdk/browser): every step here would be many small ones for the program. The
// program says when, and is told what happens. What is in begin.js belongs to it too: whoever starts the program adds that.

import { answered } from "./answer.js";
import { devices, named } from "./line.js";
import { Peer } from "./peer.js";
import { Socket } from "./socket.js";

export const host = {
  // ask does what takes its time: a method of target's, given a signal beside its arguments. done is told what came of it,
  // once: a value, or undefined and an error. What it gives ends the wait: what waits for a connection that was closed would never
  // be told.
  ask(done, target, method, ...args) {
    const control = new AbortController();
    const ended = new Promise((_, refuse) => (control.signal.onabort = () => refuse(named("AbortError", "nobody waits for it any more"))));
    const doing = (async () => target[method](...args, control.signal))();
    Promise.race([doing, ended]).then(done, (error) => done(undefined, error ?? named("Error", "it failed")));
    return control;
  },

  peer(o, tell) {
    return new Peer(this, o, tell);
  },

  socket(o, tell) {
    return new Socket(this, o, tell);
  },

  // pipeline asks an Antiphon for what it is made of.
  async pipeline({ url, ...o }, signal) {
    const response = await fetch(`${url}/v1/antiphon/pipeline`, { headers: this.bearer(o), signal });
    const told = await answered(response);
    return told.status ? told : { ...told, body: await response.json() };
  },

  // devices are what there is to choose. A page that is not secure has none.
  async devices(audio) {
    const all = (await devices()?.enumerateDevices?.()) ?? [];
    return all.filter(({ kind }) => kind === "audioinput" || (kind === "audiooutput" && audio.setSinkId));
  },

  // volume plays the agent so loud. It gives false where the browser leaves that to the device.
  volume(audio, volume, muted) {
    Reflect.set(audio, "volume", volume); // it may be read only
    audio.muted = muted;
    return Math.abs(audio.volume - volume) < 0.01;
  },
};
