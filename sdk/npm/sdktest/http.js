// The HTTP side of a test's server: answers the page's requests.

import { connectionOf } from "./rtc.js";

const realOffer = 'this offer is the browser\'s own: install({ fakes: "all" }), or connect({ transport: "websocket" })';

const json = (status, body, headers) => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });

const failed = (status, type, code, message, headers) => json(status, { error: { type, code, message } }, headers);

// called answers the request that places a call over WebRTC.
const called = async (server, { address, body, headers }, version) => {
  const key = headers.get("Authorization")?.replace(/^Bearer /, "") ?? "";
  const taken = await server.placed({ transport: "webrtc", url: address.href, model: address.searchParams.get("model") ?? "", key });
  if (!taken) return failed(server.refuse || 503, "server_error", "refused", "the test refuses the call", version);
  const connection = connectionOf(body);
  if (!connection) return failed(400, "invalid_request_error", "real_webrtc", realOffer, version);
  connection.answered(server);
  const location = `/v1/realtime/calls/rtc_${server.calls.length}`;
  return new Response("v=0\r\ns=sdktest\r\n", { status: 201, headers: { ...version, "Content-Type": "application/sdp", Location: location } });
};

// asked answers a request.
export const asked = async (server, request) => {
  const { pathname } = request.address;
  const version = server.plain ? {} : { "Antiphon-Version": "sdktest" };
  if (pathname === "/v1/antiphon/pipeline" && !server.plain) return json(200, { pipeline: "sdktest", components: [] }, version);
  if (pathname === "/v1/realtime/calls" && request.method === "POST") return called(server, request, version);
  if (/^\/v1\/realtime\/calls\/[^/]+\/hangup$/.test(pathname)) return json(200, {}, version);
  return failed(404, "invalid_request_error", "not_found", `sdktest has no ${pathname}`, version);
};
