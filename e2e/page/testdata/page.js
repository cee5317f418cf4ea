// What a page's author writes, and what the test looks at.
const began = performance.now();
const seen = { states: [], errors: [], volumes: [], agentMs: 0 };

const begin = (options = {}) => {
  const audio = document.createElement("audio");
  const call = Antiphon.connect({ url: "SERVER", audio, ...options });
  const look = () => {
    if (seen.states.at(-1) !== call.state) seen.states.push(call.state);
  };
  call.addEventListener("state", look);
  call.addEventListener("error", ({ detail }) => seen.errors.push({ name: detail.name, code: detail.code, message: detail.message, remedy: detail.remedy }));
  call.addEventListener("levels", ({ detail }) => (seen.agentMs += detail.agent > 0.3 ? 50 : 0));
  audio.addEventListener("volumechange", () => seen.volumes.push({ at: performance.now(), volume: audio.volume, muted: audio.muted }));
  call.ready.then(
    () => (seen.connectedMs = performance.now() - began),
    (error) => (seen.refused = { name: error.name, code: error.code, message: error.message, remedy: error.remedy }),
  );
  return Object.assign(globalThis, { call, audio }).call;
};
