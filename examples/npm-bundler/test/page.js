// The page of the tests: it has no elements, and notes what it was to show.
import { awaitCall, Server } from "antiphon/sdktest";
import { server as url, talk } from "../src/talk.js";

// open begins a call with a server, and ends both with the test.
export const open = async (t, { call: options, ...rest } = {}) => {
  const server = new Server({ url, ...rest }).install();
  const page = { server, now: null };
  page.call = talk((now) => (page.now = now), options);
  t.after(async () => {
    await page.call.close();
    await server.close();
  });
  // shows waits until the page shows this as its last line.
  page.shows = (line) => awaitCall(page.call, () => page.now?.lines.at(-1) === line, { what: `one whose page shows "${line}"` });
  page.is = (status) => awaitCall(page.call, () => (status instanceof RegExp ? status.test(page.now?.status) : page.now?.status === status), { what: `${status}` });
  if (!rest.silent && !rest.refuse) await page.call.ready;
  return page;
};
