// Waiting in the environment's own time, whatever a Clock or a test has put in the place of its timers since.

const { setTimeout: wait, clearTimeout: forget, setImmediate: soon } = globalThis;

// after calls f in so many milliseconds; what it gives takes that back.
export const after = (ms, f) => {
  const timer = wait(f, ms);
  return () => forget(timer);
};

// task calls f in a task of its own.
export const task = (f) => {
  if (soon) return void soon(f);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    f();
  };
  port2.postMessage(null);
};

// turn lets all go on that is due, once.
export const turn = () => new Promise((next) => task(next));
