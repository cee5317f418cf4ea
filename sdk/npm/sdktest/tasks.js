// Waiting in real time: with the environment's own timers, whatever a Clock or a test has replaced them with.

const { setTimeout: wait, clearTimeout: forget, setImmediate: soon } = globalThis;

// after calls f in so many milliseconds. It returns a function that cancels this.
export const after = (ms, f) => {
  const timer = wait(f, ms);
  return () => forget(timer);
};

// task calls f in a new task.
export const task = (f) => {
  if (soon) return void soon(f);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    f();
  };
  port2.postMessage(null);
};

// turn waits for a task, so that everything that is due runs once.
export const turn = () => new Promise((next) => task(next));
