import { ExpectationError, quote } from "./expect.js";
import { after } from "./tasks.js";

// patience is how long is waited for what must come, in ms.
export const patience = 5000;

const events = ["state", "transcript", "metrics", "levels", "error"];

const told = (call) => {
  const said = call.transcript.slice(-3).map(({ role, text }) => `${role}: ${quote(text)}`);
  const words = said.length ? `its transcript ends with ${said.join(", ")}` : "its transcript is empty";
  const error = call.error ? `its error is ${call.error.code}: ${call.error.message}` : "it has no error";
  return `it is ${call.state} (the server says ${call.confirmed}), ${error}, and ${words}`;
};

// awaitCall waits until a call is as holds says, and gives it. what names that in the error.
export const awaitCall = (call, holds, { within = patience, what = "as expected" } = {}) =>
  new Promise((resolve, reject) => {
    let stop = () => {};
    const end = (settle, value) => {
      stop();
      for (const type of events) call.removeEventListener(type, look);
      settle(value);
    };
    const look = () => {
      try {
        if (holds(call)) return end(resolve, call);
      } catch (error) {
        return end(reject, error);
      }
      if (call.state === "failed" || call.state === "disconnected") end(reject, new ExpectationError(`the call will not be ${what}: ${told(call)}`));
    };
    stop = after(within, () => end(reject, new ExpectationError(`the call is not ${what} after ${within} ms: ${told(call)}`)));
    for (const type of events) call.addEventListener(type, look);
    look();
  });

// awaitState waits until a call is in this state.
export const awaitState = (call, state, options) => awaitCall(call, () => call.state === state, { what: state, ...options });
