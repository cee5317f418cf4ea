// The custom element <antiphon-talk>, a ready-made conversation. It loads its content (talk.js) when the first one is put into a page.

const define = (page, load) => {
  customElements.define(
    "antiphon-talk",
    class extends HTMLElement {
      static observedAttributes = ["muted", "disabled", "label", "mode", "microphone", "speaker", "volume"];

      // Options of the next call. A page may have set them before this script was loaded.
      tools = this.tools ?? [];
      key = this.key;
      mediaStream = this.mediaStream;

      #talk = null;
      #loading = null;

      #loaded() {
        return (this.#loading ??= load(this.getAttribute("assets")).then(({ Talk }) => (this.#talk = new Talk(this, page))));
      }

      connectedCallback() {
        this.#loaded().catch((cause) => {
          (this.shadowRoot ?? this.attachShadow({ mode: "open" })).textContent = `${cause.message}: ${cause.remedy}`;
          this.dispatchEvent(new CustomEvent("error", { detail: cause }));
        });
      }

      // An element that is only moved within the page keeps its call.
      disconnectedCallback() {
        queueMicrotask(() => this.isConnected || this.stop());
      }

      attributeChangedCallback(name) {
        this.#talk?.changed(name);
      }

      // The present call, or the last one; null before the first.
      get call() {
        return this.#talk?.call ?? null;
      }

      // start begins a call, as the button does, and returns it.
      async start() {
        return (await this.#loaded()).start();
      }

      // stop ends the call, and waits until everything that it held is freed.
      async stop() {
        await this.#talk?.stop();
      }
    },
  );
};

// defineTalk defines <antiphon-talk> for the page, once. page has connect and preload; load loads talk.js from the folder of the attribute assets.
export const defineTalk = (page, load) => {
  if (globalThis.customElements && !customElements.get("antiphon-talk")) define(page, load);
};
