// Begins a call before there is a program that holds it: the person is asked for the microphone and the server for an answer
// while the program is on its way. The program takes it over: see Options.Begun in sdk/browser.

const quiet = (promise) => {
  promise?.catch(() => {}); // whoever waits for it is told
  return promise;
};

const ask = (deviceId) =>
  navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...deviceId } });

// microphone opens a device, or the default one when there is none with this id.
const microphone = (id) =>
  ask(id && { deviceId: { exact: id } }).catch((error) => {
    if (id && /^(Overconstrained|NotFound)Error$/.test(error.name)) return ask();
    throw error;
  });

// offer asks the server. Where the person has yet to allow the microphone that comes first, so that no call waits at the
// server for a click.
const offer = async ({ url, model }, headers, { connection, stream }) => {
  const made = await connection.createOffer();
  await connection.setLocalDescription(made);
  if (stream && (await navigator.permissions?.query({ name: "microphone" }).catch(() => {}))?.state !== "granted") {
    await stream.catch(() => {});
  }
  return fetch(`${url}/v1/realtime/calls${model ? `?model=${encodeURIComponent(model)}` : ""}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/sdp" },
    body: made.sdp,
  });
};

export const begin = (o) => {
  const connection = new RTCPeerConnection({ iceServers: o.iceServers ?? [] });
  const { sender } = connection.addTransceiver("audio", { direction: "sendrecv" });
  const channel = connection.createDataChannel("oai-events");
  const begun = { connection, sender, channel, messages: [], track: null };
  channel.onmessage = ({ data }) => begun.messages.push(data);
  connection.ontrack = (event) => (begun.track = event);
  begun.release = () => (channel.onmessage = connection.ontrack = null);
  begun.stream = o.microphone === false || o.mediaStream || !navigator.mediaDevices ? null : quiet(microphone(o.microphone));
  const headers = o.key ? { Authorization: `Bearer ${o.key}` } : {};
  begun.answer = quiet(offer(o, headers, begun));
  // A call that was never heard of again would stay with the server for a while.
  begun.hangUp = () =>
    quiet(
      begun.answer.then((response) => {
        const location = response.headers.get("Location");
        return location && fetch(`${o.url}${location}/hangup`, { method: "POST", headers });
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
