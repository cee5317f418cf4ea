// The browser's part of a call for the program (package sdk/browser). The program decides what to do and when; host does it in coarse
// steps, because each would be many small ones for the program, and reports what happens. The functions of begin.js belong to it too:
// program.js and standalone.js add them.

import { answered } from "./answer.js";
import { devices, named } from "./base_peer.js";
import { Peer } from "./peer.js";
import { Socket } from "./socket.js";

export const host = {
  // ask calls a method of target that takes time, with the arguments and an AbortSignal. It calls done once: with the result, or with
  // undefined and an error. It returns an AbortController, which ends the wait: a method that waits for a closed connection might
  // never return.
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

  // pipeline asks an Antiphon server for its pipeline and returns the response's fields and body.
  async pipeline({ url, ...o }, signal) {
    const response = await fetch(`${url}/v1/antiphon/pipeline`, { headers: this.bearer(o), signal }).catch((cause) => this.refused({ url }, cause));
    const answer = await answered(response);
    return answer.status ? answer : { ...answer, body: await response.json() };
  },

  // devices returns the microphones and loudspeakers that the user can choose. A page on an insecure address has none.
  async devices(audio) {
    const all = (await devices()?.enumerateDevices?.()) ?? [];
    return all.filter(({ kind }) => kind === "audioinput" || (kind === "audiooutput" && audio.setSinkId));
  },

  // volume sets how loud the agent is played, 0 to 1. It returns false where the browser leaves the volume to the device.
  volume(audio, volume, muted) {
    Reflect.set(audio, "volume", volume); // the property may be read only
    audio.muted = muted;
    return Math.abs(audio.volume - volume) < 0.01;
  },
};
