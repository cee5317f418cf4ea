// <antiphon-talk>: a ready-made conversation. What it shows is loaded with the first one that is put into a page.

const define = (page, load) => {
  customElements.define(
    "antiphon-talk",
    class extends HTMLElement {
      static observedAttributes = ["muted", "disabled", "label", "mode"];

      // Given to the next call. A page may have set them before this script was there.
      tools = this.tools ?? [];
      mediaStream = this.mediaStream;

      #talk = null;
      #loading = null;

      #loaded() {
        return (this.#loading ??= load().then(({ Talk }) => (this.#talk = new Talk(this, page))));
      }

      connectedCallback() {
        this.#loaded().catch((cause) => this.dispatchEvent(new CustomEvent("error", { detail: cause })));
      }

      // An element that was only moved to another place in the page keeps its call.
      disconnectedCallback() {
        queueMicrotask(() => this.isConnected || this.stop());
      }

      attributeChangedCallback(name) {
        this.#talk?.changed(name);
      }

      // The call that is on, or the last one; null before the first.
      get call() {
        return this.#talk?.call ?? null;
      }

      // start begins a call, as the button does, and gives it.
      async start() {
        return (await this.#loaded()).start();
      }

      // stop ends the call, and waits until everything is freed.
      async stop() {
        await this.#talk?.stop();
      }
    },
  );
};

// defineTalk makes <antiphon-talk> known to the page, once.
export const defineTalk = (page, load) => {
  if (globalThis.customElements && !customElements.get("antiphon-talk")) define(page, load);
};
