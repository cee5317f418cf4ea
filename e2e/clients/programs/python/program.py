"""What the programs have in common: they read calls from standard input, a line each, and write the results."""

import asyncio
import base64
import json
import sys

RATE = 24000  # Hz of all audio, 16-bit mono


class Program:
    """The report of one client. A subclass connects, and has a method for each call of the tests."""

    def __init__(self, url: str, key: str):
        self.url, self.key = url, key
        self.socket = url.replace("http", "ws", 1) + "/v1/realtime"
        self.said: list[str] = []  # the agent's answers, in their order
        self.heard: list[str] = []  # the user's spoken turns
        self.calls: list[str] = []  # the calls of the tool
        self.interruptions = 0
        self.samples = 0  # of the agent's audio
        self.errors: list[str] = []

    def look_up_weather(self, place: str) -> str:
        self.calls.append(place)
        return "rain over: " + place

    async def report(self) -> dict:
        return {
            "said": self.said,
            "heard": self.heard,
            "calls": self.calls,
            "interruptions": self.interruptions,
            "audioMS": self.samples * 1000 / RATE,
            "errors": self.errors,
        }

    async def say(self, pcm: str) -> None:
        """Sends the user's speech, and a second of silence, at the speed of a microphone."""
        data = base64.b64decode(pcm) + bytes(2 * RATE)
        piece = RATE // 50 * 2
        for at in range(0, len(data), piece):
            await self.listen(data[at : at + piece])
            await asyncio.sleep(0.02)

    async def listen(self, audio: bytes) -> None:
        raise NotImplementedError


async def serve(program: Program) -> None:
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=64 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        call = json.loads(line)
        try:
            answer = {"result": await getattr(program, call["method"])(**(call["args"] or {}))}
        except Exception as e:  # the test reports it
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)
