// Says so when the page's program has stopped: it runs for as long as the page
// is open, so an end is a fault, after which nothing on the page answers.

const run = Go.prototype.run;

Go.prototype.run = async function (instance) {
  try {
    await run.call(this, instance);
  } finally {
    const title = document.createElement("p");
    title.className = "problem-title";
    title.textContent = "This page has stopped";
    const advice = document.createElement("p");
    advice.textContent = "A fault in its program ended it, and the call with it. The browser's console says more.";
    const text = document.createElement("div");
    text.className = "problem-text";
    text.append(title, advice);
    const reload = document.createElement("button");
    reload.id = "reload";
    reload.className = "control strong";
    reload.textContent = "Reload the page";
    reload.addEventListener("click", () => location.reload());
    const remedy = document.createElement("div");
    remedy.className = "remedy";
    remedy.append(reload);
    const box = document.getElementById("error");
    box.dataset.kind = "stopped";
    box.replaceChildren(text, remedy);
  }
};
