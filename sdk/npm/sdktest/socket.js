// The fake of WebSocket.

import { Target } from "./events.js";
import { task } from "./tasks.js";

// Socket is the page's fake WebSocket to a Server.
export class Socket extends Target {
  CONNECTING = 0;
  OPEN = 1;
  CLOSING = 2;
  CLOSED = 3;
  readyState = 0;
  bufferedAmount = 0;
  extensions = "";
  protocol = "";
  binaryType = "blob";

  #connection;

  constructor(server, address, protocols) {
    super();
    this.url = address.href;
    const names = [protocols ?? []].flat();
    const key = names.find((name) => name.startsWith("openai-insecure-api-key."));
    this.#connection = {
      transport: "websocket",
      deliver: (text) => this.readyState === 1 && this.emit("message", { data: text, origin: address.origin }),
      end: (clean) => this.#closed(clean ? 1000 : 1006, clean),
    };
    const call = { transport: "websocket", url: address.href, model: address.searchParams.get("model") ?? "", key: key?.slice(key.indexOf(".") + 1) ?? "" };
    server.placed(call).then((taken) => {
      if (this.readyState !== 0) return;
      if (!taken) return this.#closed(1006, false);
      this.readyState = 1;
      this.protocol = names[0] ?? "";
      this.emit("open");
      server.began(this.#connection);
    });
  }

  send(text) {
    if (this.readyState === 0) throw new DOMException("the connection is not open yet", "InvalidStateError");
    if (this.readyState === 1) this.#connection.take?.(String(text));
  }

  close(code = 1000) {
    if (this.readyState > 1) return;
    this.readyState = 2;
    this.#connection.gone?.();
    task(() => this.#closed(code, true));
  }

  #closed(code, wasClean) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#connection.gone?.();
    this.emit("close", { code, wasClean, reason: "" });
  }
}
