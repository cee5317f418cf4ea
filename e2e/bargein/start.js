// A page that connects a call at once, to measure the time from the script's tag to the call.

const scripts = {
  ours: ({ url }) => `${url}/antiphon.js`,
  stock: () => "agents.js",
};

const calls = {
  ours: ({ url }, mediaStream) => window.Antiphon.connect({ url, mediaStream }).ready,
  stock: ({ url }, mediaStream) => {
    const { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession } = window.kept;
    const transport = new OpenAIRealtimeWebRTC({ baseUrl: `${url}/v1/realtime/calls`, useInsecureApiKey: true, mediaStream });
    return new RealtimeSession(new RealtimeAgent({ name: "Porter" }), { transport }).connect({ apiKey: "none" });
  },
};

window.start = async (name, options) => {
  const mediaStream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const began = performance.now();
  const script = document.createElement("script");
  script.src = scripts[name](options);
  const loaded = new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${script.src} does not load`));
  });
  document.head.append(script);
  await loaded;
  await calls[name](options, mediaStream);
  return performance.now() - began;
};
