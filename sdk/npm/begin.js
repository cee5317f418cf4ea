// Begins a call before there is a program that holds it: the person is asked for the microphone and the server for an answer
// while the program is on its way. The program takes it over (see host.js), and has later calls begun in the same way.

const quiet = (promise) => {
  promise?.catch(() => {}); // whoever waits for it is told
  return promise;
};

// microphone opens the device with this id, or the default one. Without exact it does so too when there is none with this id.
export const microphone = async (id, exact) => {
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...(id && { deviceId: { exact: id } }) };
  try {
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (error) {
    if (id && !exact && /^(Overconstrained|NotFound)Error$/.test(error.name)) return microphone();
    throw error;
  }
};

export const bearer = ({ key }) => (key ? { Authorization: `Bearer ${key}` } : {});

// post sends a description to the server and gives its response.
export const post = (o, path, body, more) =>
  fetch(o.url + path, { method: "POST", headers: { ...bearer(o), "Content-Type": "application/sdp", ...more?.headers }, body, signal: more?.signal });

// offered makes the description that the server gets: at once, without candidates, which it learns from the first packets.
export const offered = async (connection, options) => {
  const made = await connection.createOffer(options);
  await connection.setLocalDescription(made);
  return made.sdp;
};

// offer asks the server. Where the person has yet to allow the microphone that comes first, so that no call waits at the
// server for a click.
const offer = async (o, { connection, stream }, more) => {
  const sdp = await offered(connection);
  if (stream && (await navigator.permissions?.query({ name: "microphone" }).catch(() => {}))?.state !== "granted") {
    await stream.catch(() => {});
  }
  return post(o, `/v1/realtime/calls${o.model ? `?model=${encodeURIComponent(o.model)}` : ""}`, sdp, more);
};

// begin places a call. A stream is used as the microphone; more are headers, and a signal that gives the call up.
export const begin = (o, stream, more) => {
  const connection = new RTCPeerConnection({ iceServers: o.iceServers ?? [] });
  // Both ways also without a microphone, so that one can be opened in the middle of the call.
  const { sender } = connection.addTransceiver("audio", { direction: "sendrecv" });
  const channel = connection.createDataChannel("oai-events");
  const begun = { connection, sender, channel, messages: [], track: null };
  channel.onmessage = ({ data }) => begun.messages.push(data);
  connection.ontrack = (event) => (begun.track = event);
  begun.release = () => (channel.onmessage = connection.ontrack = null);
  begun.stream = o.microphone === false || o.mediaStream ? null : quiet(stream ? Promise.resolve(stream) : microphone(o.microphone));
  begun.answer = quiet(offer(o, begun, more));
  // A call that was never heard of again would stay with the server for a while.
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

// drop ends what nobody has taken over.
export const drop = (begun) => {
  begun.connection.close();
  begun.hangUp();
  begun.stream?.then((stream) => stream.getTracks().forEach((track) => track.stop()), () => {});
};
