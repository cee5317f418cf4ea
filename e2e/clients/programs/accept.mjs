// Reads a recording of the server, and writes a line of JSON for every server event: whether the parser of @openai/agents-realtime
// knows it.

import { createInterface } from "node:readline";

import { parseRealtimeEvent, realtimeServerEventSchema } from "../node_modules/@openai/agents-realtime/dist/openaiRealtimeEvents.mjs";

const known = new Set(realtimeServerEventSchema.options.map((schema) => schema.shape.type.value));

for await (const line of createInterface({ input: process.stdin })) {
  const { dir, session, event } = JSON.parse(line);
  if (dir === "client") continue;
  // The parser cannot read a picture, not even its own. Such items are left out.
  if (event.item?.content?.some(({ type }) => type === "input_image")) continue;
  const { data, isGeneric } = parseRealtimeEvent({ data: JSON.stringify(event) });
  const why = isGeneric && known.has(event.type) ? realtimeServerEventSchema.safeParse(event).error.message : "";
  console.log(JSON.stringify({ type: event.type, session, known: known.has(event.type), accepted: data !== null && !isGeneric, why }));
}
