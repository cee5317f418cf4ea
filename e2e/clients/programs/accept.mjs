// Reads a recording of the server's and says of every event of the server's whether the parser of @openai/agents-realtime knows
// it: one line of JSON each.

import { createInterface } from "node:readline";

import { parseRealtimeEvent, realtimeServerEventSchema } from "../node_modules/@openai/agents-realtime/dist/openaiRealtimeEvents.mjs";

const known = new Set(realtimeServerEventSchema.options.map((schema) => schema.shape.type.value));

for await (const line of createInterface({ input: process.stdin })) {
  const { dir, session, event } = JSON.parse(line);
  if (dir === "client") continue;
  // It cannot read a picture, its own included: it goes on without the item.
  if (event.item?.content?.some(({ type }) => type === "input_image")) continue;
  const { data, isGeneric } = parseRealtimeEvent({ data: JSON.stringify(event) });
  const why = isGeneric && known.has(event.type) ? realtimeServerEventSchema.safeParse(event).error.message : "";
  console.log(JSON.stringify({ type: event.type, session, known: known.has(event.type), accepted: data !== null && !isGeneric, why }));
}
