// Begins a WebRTC call before the program is loaded: it asks the user for the microphone and the server for an answer while the
// program is on its way. The program takes the call over (see host.js). It begins later calls with the same functions.

// quiet returns the promise and keeps the browser from reporting its rejection as unhandled.
const quiet = (promise) => {
  promise?.catch(() => {}); // those who wait for the promise get the error; nobody else needs it
  return promise;
};

// microphone opens the device with this id, or the default device, and returns its MediaStream. When there is no device with this id it
// throws if exact is set, and opens the default device otherwise.
export const microphone = async (id, exact) => {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...(id && { deviceId: { exact: id } }) };
  try {
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (error) {
    if (id && !exact && /^(Overconstrained|NotFound)Error$/.test(error.name)) return microphone();
    throw error;
  }
};

// bearer returns the header that carries the key, if there is a key.
export const bearer = ({ key }) => (key ? { Authorization: `Bearer ${key}` } : {});

// refused returns the server's refusal of the page's origin, and throws cause if there is none. A browser hides the refusal of a request to
// another origin if it has headers or is no GET, and shows that of a GET without headers.
export const refused = async (o, cause) => {
  const hidden = o.url && cause.name !== "AbortError";
  const response = hidden && (await fetch(`${o.url}/v1/antiphon/pipeline`, { signal: AbortSignal.timeout(3000) }).catch(() => {}));
  if (response?.status !== 403) throw cause;
  return response;
};

// post sends a session description to the server and returns the Response.
export const post = (o, path, body, more) =>
  fetch(o.url + path, {
    method: "POST", headers: { ...bearer(o), "Content-Type": "application/sdp", ...more?.headers }, body, signal: more?.signal,
  }).catch((cause) => refused(o, cause));

// iceServers asks the server for its STUN and TURN servers. A server that does not answer, or is no Antiphon, names none.
const iceServers = async (o) => {
  try {
    const response = await fetch(`${o.url}/v1/antiphon/ice-servers`, { headers: bearer(o), signal: AbortSignal.timeout(3000) });
    return response.ok ? (await response.json()).ice_servers : [];
  } catch {
    return [];
  }
};

// offered makes an offer, sets it, and returns its SDP. It does not wait for ICE candidates: the server learns the addresses from the
// first packets.
export const offered = async (connection, options) => {
  const made = await connection.createOffer(options);
  await connection.setLocalDescription(made);
  return made.sdp;
};

// offer sends the offer to the server and returns the Response. Where the user has not allowed the microphone yet, it waits for that
// first, so that no call waits at the server for a click.
const offer = async (o, { connection, stream }, more) => {
  if (!o.iceServers) {
    const named = await iceServers(o);
    if (named.length) connection.setConfiguration({ iceServers: named }); // before the addresses are gathered
  }
  const sdp = await offered(connection);
  if (stream && (await navigator.permissions?.query({ name: "microphone" }).catch(() => {}))?.state !== "granted") {
    await stream.catch(() => {});
  }
  return post(o, `/v1/realtime/calls${o.model ? `?model=${encodeURIComponent(o.model)}` : ""}`, sdp, more);
};

// begin places a call and returns what it has made so far. stream, if given, is used as the microphone. more has headers for the
// request and a signal that aborts it.
export const begin = (o, stream, more) => {
  const connection = new RTCPeerConnection({ iceServers: o.iceServers ?? [] });
  // The direction is sendrecv even without a microphone, so that one can be opened in the middle of the call.
  const { sender } = connection.addTransceiver("audio", { direction: "sendrecv" });
  const channel = connection.createDataChannel("oai-events");
  const begun = { connection, sender, channel, messages: [], track: null };
  channel.onmessage = ({ data }) => begun.messages.push(data);
  connection.ontrack = (event) => (begun.track = event);
  begun.release = () => (channel.onmessage = connection.ontrack = null);
  begun.stream = o.microphone === false || o.mediaStream ? null : quiet(stream ? Promise.resolve(stream) : microphone(o.microphone));
  begun.answer = quiet(offer(o, begun, more));
  // Without this, the server would keep an abandoned call for a while.
  begun.hangUp = () =>
    quiet(
      begun.answer.then((response) => {
        const location = response.headers.get("Location");
        return location && fetch(`${o.url}${location}/hangup`, { method: "POST", headers: bearer(o) });
      }),
    );
  begun.applied = quiet(
    begun.answer.then(async (response) => {
      if (response.ok) await connection.setRemoteDescription({ type: "answer", sdp: await response.clone().text() });
    }),
  );
  return begun;
};

// drop ends a call that nobody has taken over.
export const drop = (begun) => {
  begun.connection.close();
  begun.hangUp();
  begun.stream?.then((stream) => stream.getTracks().forEach((track) => track.stop()), () => {});
};
