import { talk } from "./talk.js";

const [begin, form, text, transcript, state, list] = ["begin", "form", "text", "transcript", "state", "list"].map((id) => document.getElementById(id));
let call;

const show = (now) => {
  state.textContent = now.status;
  transcript.textContent = now.lines.join("\n");
  list.replaceChildren(...now.list.map((item) => Object.assign(document.createElement("li"), { textContent: item })));
};

begin.addEventListener("click", async () => {
  if (call) {
    const ending = call;
    call = undefined;
    begin.textContent = "Begin";
    return ending.close();
  }
  call = talk(show);
  begin.textContent = "End";
  await call.ready.catch(() => {}); // what is shown says why
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  call?.send(text.value);
  text.value = "";
});
