// Waiting until a call is as a test wants it.

import { ExpectationError, quote } from "./expect.js";
import { after } from "./tasks.js";

// patience is the usual time limit of a wait, in ms.
export const patience = 5000;

const events = ["state", "transcript", "metrics", "levels", "error"];

// described says in words how a call is, for an error.
const described = (call) => {
  const entries = call.transcript.slice(-3).map(({ role, text }) => `${role}: ${quote(text)}`);
  const words = entries.length ? `its transcript ends with ${entries.join(", ")}` : "its transcript is empty";
  const error = call.error ? `its error is ${call.error.code}: ${call.error.message}` : "it has no error";
  return `it is ${call.state} (the server says ${call.confirmed}), ${error}, and ${words}`;
};

// awaitCall waits until holds(call) is true and returns the call. what names that condition in the error.
export const awaitCall = (call, holds, { within = patience, what = "as expected" } = {}) =>
  new Promise((resolve, reject) => {
    let stop = () => {};
    const end = (settle, value) => {
      stop();
      for (const type of events) call.removeEventListener(type, check);
      settle(value);
    };
    const check = () => {
      try {
        if (holds(call)) return end(resolve, call);
      } catch (error) {
        return end(reject, error);
      }
      if (call.state === "failed" || call.state === "disconnected") end(reject, new ExpectationError(`the call will not be ${what}: ${described(call)}`));
    };
    stop = after(within, () => end(reject, new ExpectationError(`the call is not ${what} after ${within} ms: ${described(call)}`)));
    for (const type of events) call.addEventListener(type, check);
    check();
  });

// awaitState waits until a call is in this state.
export const awaitState = (call, state, options) => awaitCall(call, () => call.state === state, { what: state, ...options });
