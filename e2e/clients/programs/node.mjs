// Runs one client in Node. Each line {"method", "args"} on standard input is a call, and the next line of output is its result.

import { createInterface } from "node:readline";

import { agents } from "./agents.mjs";
import { openaiWS } from "./openai-ws.mjs";

const [name, options] = process.argv.slice(2);
const client = { agents, openaiWS }[name](JSON.parse(options));

for await (const line of createInterface({ input: process.stdin })) {
  const { method, args } = JSON.parse(line);
  try {
    const result = (await client[method](args ?? {})) ?? null;
    console.log(JSON.stringify({ result }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error?.stack ?? error) }));
  }
}
