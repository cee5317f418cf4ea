import { connect } from "antiphon";

const show = document.getElementById("transcript");
document.getElementById("begin").addEventListener("click", () => {
  const call = connect({ url: new URLSearchParams(location.search).get("server") });
  call.addEventListener("transcript", ({ detail }) => (show.textContent = detail.map((e) => `${e.role}: ${e.text}`).join(" | ")));
  call.addEventListener("error", ({ detail }) => (show.textContent = `${detail.message}. ${detail.remedy}`));
  call.ready.then(() => call.send("hello there"));
});
