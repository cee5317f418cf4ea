import { connect } from "antiphon";

const [begin, form, text, transcript, state] = ["begin", "form", "text", "transcript", "state"].map((id) => document.getElementById(id));
let call;

begin.addEventListener("click", async () => {
  if (call) {
    const ending = call;
    call = undefined;
    begin.textContent = "Begin";
    return ending.close();
  }
  call = connect({ url: "http://localhost:8080", instructions: "Be brief." });
  begin.textContent = "End";
  call.addEventListener("state", ({ target: { state: now, interrupting, error } }) => {
    state.textContent = interrupting ? "interrupting?" : error ? `${now}: ${error.message}. ${error.remedy}` : now;
  });
  call.addEventListener("transcript", ({ detail }) => {
    transcript.textContent = detail.map(({ role, text, interrupted }) => `${role}: ${text}${interrupted ? " ..." : ""}`).join("\n");
  });
  await call.ready.catch(() => {}); // the event has said why
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  call?.send(text.value);
  text.value = "";
});
