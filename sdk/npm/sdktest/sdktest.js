// The entry of sdktest: a server without a network, and fakes of the browser objects that a test does not have. See sdktest.d.ts and docs/browser.md.

export { awaitCall, awaitState } from "./await.js";
export { Clock } from "./clock.js";
export { ExpectationError } from "./expect.js";
export { Server } from "./server.js";
