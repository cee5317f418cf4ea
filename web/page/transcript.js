// Copies and saves the transcript, as the user has heard it.

const transcript = () =>
  [...document.querySelectorAll("#transcript > li")]
    .map((li) => [".who", ".said", ".cut", ".note"].map((part) => li.querySelector(part)?.textContent ?? ""))
    .map(([who, said, cut, note]) => `${who}: ${[said, cut && `[${cut}]`, note && `(${note})`].filter(Boolean).join(" ")}\n`)
    .join("");

const save = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([transcript()], { type: "text/plain;charset=utf-8" }));
  link.download = `antiphon-${new Date().toISOString().slice(0, 16).replace(":", "-")}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

const copy = async (button) => {
  await navigator.clipboard.writeText(transcript());
  button.dataset.copied = "true";
  setTimeout(() => delete button.dataset.copied, 2000);
};

// On an insecure address the browser has no clipboard, and saves.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("#copy-transcript, #save-transcript");
  if (button) (button.id === "copy-transcript" && navigator.clipboard ? copy(button) : Promise.reject()).catch(save);
});
