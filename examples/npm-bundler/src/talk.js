// What the page does with a call. It knows nothing of the page's elements, so that its tests need none: see test/talk.test.js.
import { connect } from "antiphon";

export const server = "http://localhost:8080";

const lines = ({ transcript }) => transcript.filter(({ role }) => role !== "tool").map(({ role, text, interrupted }) => `${role}: ${text}${interrupted ? " ..." : ""}`);

const status = ({ state, interrupting, error }) => (interrupting ? "interrupting?" : error ? `${state}: ${error.message}. ${error.remedy}` : state);

// talk begins a call, and shows what there is to show: { status, lines, list }. The agent can put things on the list.
export const talk = (show, options = {}) => {
  const list = [];
  const add = {
    name: "add_item",
    description: "Adds an item to the list.",
    parameters: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
    run({ item }) {
      if (list.length >= 20) throw new Error("the list is full");
      list.push(item);
      update();
      return { items: list.length };
    },
  };
  const call = connect({ url: server, instructions: "Be brief.", tools: [add], ...options });
  const update = () => show({ status: status(call), lines: lines(call), list: [...list] });
  for (const type of ["state", "transcript"]) call.addEventListener(type, update);
  return call;
};
