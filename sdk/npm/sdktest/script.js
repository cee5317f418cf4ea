// Plays scripts, texts with one step a line. Empty lines and lines that begin with # are left out. See Server.run in sdktest.d.ts.

const units = { ms: 1, s: 1000, m: 60_000 };

// duration returns the milliseconds of a text such as 500ms or 1.5s.
const duration = (text) => {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  if (!unit) throw new Error(`${JSON.stringify(text)} is no time, such as 500ms or 1.5s`);
  return Number(number) * units[unit];
};

const steps = {
  expect: (server, rest) => {
    const [, type, like] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
    if (!type) throw new Error("expect what? A type is missing");
    return server.expect(type, like ? JSON.parse(like) : {});
  },
  send: (server, rest) => server.sendText(rest),
  tell: (server, rest) => server.tell(rest),
  advance: (server, rest) => {
    const ms = duration(rest);
    if (!server.clock) throw new Error("the server has no clock to advance: new Server({ clock })");
    return server.clock.advance(ms);
  },
};

// run plays a script. It throws at the first step that fails.
export const run = async (server, script) => {
  for (const [i, line] of script.split("\n").entries()) {
    const [, verb, rest] = /^\s*(\S+)\s*(.*?)\s*$/.exec(line) ?? [];
    if (!verb || verb.startsWith("#")) continue;
    try {
      if (!Object.hasOwn(steps, verb)) throw new Error(`${JSON.stringify(verb)} is no step: there are ${Object.keys(steps).join(", ")}`);
      await steps[verb](server, rest);
    } catch (error) {
      error.message = `line ${i + 1} of the script: ${error.message}`;
      throw error;
    }
  }
};
