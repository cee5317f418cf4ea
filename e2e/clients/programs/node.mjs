// Runs one client in Node. Each line {"method", "args"} on standard input is a call, and the next line of output is its result.

import { createInterface } from "node:readline";

// files have the clients: a program loads its own alone.
const files = { agents: "./agents.mjs", livekit: "./livekit.mjs", openaiWS: "./openai-ws.mjs" };
const [name, options] = process.argv.slice(2);
const client = (await import(files[name]))[name](JSON.parse(options));

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line);
  try {
    const result = (await client[method](args ?? {})) ?? null;
    console.log(JSON.stringify({ result }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error?.stack ?? error) }));
  }
}
