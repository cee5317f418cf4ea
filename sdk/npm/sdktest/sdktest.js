// A server without a network, and fakes of what a browser has and a test has not: see sdktest.d.ts and docs/browser.md.

export { awaitCall, awaitState } from "./await.js";
export { Clock } from "./clock.js";
export { ExpectationError } from "./expect.js";
export { Server } from "./server.js";
