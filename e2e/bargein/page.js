// The page that runs the clients of the benchmark. The benchmark chooses one by name, and controls all of them in the same way.
// others.js adds the clients of other projects.

const microphone = () => navigator.mediaDevices.getUserMedia({ audio: true });

// ours is Antiphon's script, from the server.
const ours = async ({ url, prediction }) => {
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${url}/antiphon.js`;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${script.src} does not load`));
    document.head.append(script);
  });
  const call = window.Antiphon.connect({ url, prediction, mediaStream: await microphone() });
  const seen = { errors: [], interrupting: [] };
  call.addEventListener("error", (e) => seen.errors.push(String(e.detail?.message ?? e.message ?? e.detail)));
  let was = false;
  const look = () => {
    const is = Boolean(call.interrupting);
    if (is !== was) seen.interrupting.push({ at: performance.now(), is });
    was = is;
  };
  call.addEventListener("interrupting", look);
  call.addEventListener("state", look);
  await call.ready;
  return {
    write: (text) => call.send(text),
    close: () => call.close(),
    report: () => ({ metrics: call.metrics, errors: seen.errors, interrupting: seen.interrupting }),
  };
};

window.clients = {
  ours: (options) => ours({ ...options, prediction: true }),
  unpredicted: (options) => ours({ ...options, prediction: false }),
};

// echo mixes the agent's sound into every microphone, delayed and attenuated, behind the browser's echo canceller.
const echo = ({ lateMS, gain }) => {
  const { context, mix } = window.fakeMicrophone;
  const [receiver] = window.testOutput.peers.at(-1).getReceivers();
  const delay = new DelayNode(context, { delayTime: lateMS / 1000, maxDelayTime: 1 });
  const lower = new GainNode(context, { gain });
  context.createMediaStreamSource(new MediaStream([receiver.track])).connect(delay).connect(lower);
  mix(lower);
};

// deafen removes the playback from the client's detector: the second input of its worklet stays silent.
const deafen = () => {
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, output, input) {
    if (to instanceof AudioWorkletNode && input === 1) return to;
    return connect.apply(this, arguments);
  };
};

let client;

window.begin = async (name, options) => {
  if (options.deaf) deafen();
  client = await window.clients[name](options);
  if (options.echo) echo(options.echo);
};
window.write = async (text) => void (await client.write(text));
window.end = async () => void (await client.close());
window.report = () => JSON.parse(JSON.stringify(client.report?.() ?? {}));

// lower plays a tone in an element, lowers its volume, and returns the time of the change.
window.lower = async () => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const { context } = window.fakeMicrophone;
  const tone = new OscillatorNode(context, { frequency: 250 });
  const out = context.createMediaStreamDestination();
  tone.connect(out);
  tone.start();
  const element = document.createElement("audio");
  element.srcObject = out.stream;
  await element.play();
  await pause(400 + 10 * Math.random());
  const at = performance.now();
  element.volume = 0.1;
  await pause(300);
  element.srcObject = null;
  tone.stop();
  return at;
};
