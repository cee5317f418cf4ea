// What a server does by itself with a page's events: one function for each type of event. Its parameter to is the object #to of the
// Server.

const refuse = (to, event, code, message) =>
  to.tell({ type: "error", error: { type: "invalid_request_error", code, message, param: null, event_id: event.event_id ?? null } });

const create = (to, { item }) => {
  const added = to.conversation.add(item);
  to.tell({ type: "conversation.item.added", ...added });
  to.tell({ type: "conversation.item.done", ...added });
};

const retrieve = (to, event) => {
  const item = to.conversation.items.get(event.item_id);
  if (item) to.tell({ type: "conversation.item.retrieved", item });
  else refuse(to, event, "item_not_found", `there is no item ${event.item_id}`);
};

const erase = (to, event) => {
  if (to.conversation.items.delete(event.item_id)) to.tell({ type: "conversation.item.deleted", item_id: event.item_id });
  else refuse(to, event, "item_not_found", `there is no item ${event.item_id}`);
};

const truncate = (to, event) => {
  if (!to.truncate(event.item_id, event.audio_end_ms)) refuse(to, event, "item_not_found", `there is no item ${event.item_id}`);
};

const cancel = (to, event) => {
  if (to.live) to.live.cancel();
  else refuse(to, event, "response_cancel_not_active", "there is no response to cancel");
};

const respond = (to, event) => {
  if (to.live) refuse(to, event, "conversation_already_has_active_response", `the response ${to.live.response} is being made`);
  else to.answer(event.response ?? {});
};

const clear = (to) => {
  if (!to.tracks || !to.last) return;
  to.tell({ type: "output_audio_buffer.cleared", response_id: to.last.response });
};

const update = (to, { session }) => to.tell({ type: "session.updated", session: to.update(session) });

// hello answers antiphon.hello, as an Antiphon server does. A plain server does not call it.
export const hello = (to, { event_id, machines }) => to.tell({ type: "antiphon.ack", acknowledges: event_id, machines });

const acknowledge = (to, { event_id }) => to.tell({ type: "antiphon.ack", acknowledges: event_id });

const nothing = () => {};

export const answers = {
  "session.update": update,
  "conversation.item.create": create,
  "conversation.item.retrieve": retrieve,
  "conversation.item.delete": erase,
  "conversation.item.truncate": truncate,
  "input_audio_buffer.append": nothing,
  "input_audio_buffer.commit": (to) => to.turn(),
  "input_audio_buffer.clear": (to) => to.tell({ type: "input_audio_buffer.cleared" }),
  "output_audio_buffer.clear": clear,
  "response.create": respond,
  "response.cancel": cancel,
  "antiphon.barge_in.candidate": acknowledge,
  "antiphon.barge_in.ready": nothing,
  "antiphon.barge_in.heard": nothing,
  "antiphon.run.reply": acknowledge,
  "antiphon.run.cancel": acknowledge,
  "antiphon.run.follow": acknowledge,
};

// answered has the server handle an event by itself.
export const answered = (to, event) => {
  const answer = answers[event.type];
  if (answer) answer(to, event);
  else refuse(to, event, "unknown_event", `this server does not know ${event.type}`);
};
