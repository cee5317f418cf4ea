"""An application of the package openai that answers the first telephone call, and refuses the second one."""

import http.server
import os
import threading

import openai

client = openai.OpenAI(api_key="sk-none", base_url=os.environ["SERVER"] + "/v1", webhook_secret=os.environ["SECRET"])
calls = 0


def answer(call):
    client.realtime.calls.accept(call, type="realtime", instructions="Be short.")
    with client.realtime.connect(extra_query={"call_id": call}) as connection:
        print("session", connection.recv().session.instructions, flush=True)
    for name, ask in (
        ("again", lambda: client.realtime.calls.accept(call, type="realtime")),
        ("refer", lambda: client.realtime.calls.refer(call, target_uri="tel:+1900")),
    ):
        try:
            ask()
        except openai.APIStatusError as error:
            print(name, error.status_code, error.code, flush=True)
    client.realtime.calls.hangup(call)
    print("hung up", flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global calls
        event = client.webhooks.unwrap(self.rfile.read(int(self.headers["content-length"])), self.headers)
        self.send_response(200)
        self.end_headers()
        sender = next(h for h in event.data.sip_headers if h.name == "From")
        print(event.type, str("sipp" in sender.value).lower(), flush=True)
        calls += 1
        if calls == 1:
            threading.Thread(target=answer, args=(event.data.call_id,)).start()
            return
        client.realtime.calls.reject(event.data.call_id, status_code=486)
        print("rejected", flush=True)
        threading.Thread(target=self.server.shutdown).start()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("ready", flush=True)
server.serve_forever()
