"""An application with the realtime session of the package openai-agents."""

import asyncio

from agents import function_tool, set_tracing_disabled
from agents.realtime import RealtimeAgent, RealtimeRunner

import program


def answer(item) -> str:
    """Returns the words of an item that is a whole answer of the agent."""
    if item.type != "message" or item.role != "assistant" or item.status != "completed":
        return ""
    return "".join(c.transcript or "" for c in item.content if c.type == "audio")


class Client(program.Program):
    async def connect(self) -> None:
        set_tracing_disabled(True)

        @function_tool
        def look_up_weather(place: str) -> str:
            """The weather of a place."""
            return self.look_up_weather(place)

        runner = RealtimeRunner(
            RealtimeAgent(name="Porter", instructions="Be brief.", tools=[look_up_weather]),
            config={
                "model_settings": {
                    "model_name": "gpt-realtime",
                    "input_audio_transcription": {"model": "whisper-1"},
                    "turn_detection": {"type": "server_vad"},
                }
            },
        )
        self.session = await runner.run(model_config={"url": self.socket, "api_key": self.key})
        await self.session.enter()
        self.reader = asyncio.create_task(self.read())

    async def read(self) -> None:
        async for e in self.session:
            if e.type == "error":
                self.errors.append(str(e.error))
            elif e.type == "audio":
                self.samples += len(e.audio.data) // 2
            elif e.type == "audio_interrupted":
                self.interruptions += 1
            elif e.type == "raw_model_event" and e.data.type == "input_audio_transcription_completed":
                self.heard.append(e.data.transcript)
            elif e.type == "history_updated":
                self.said = [text for i in e.history if (text := answer(i))]

    async def write(self, text: str) -> None:
        await self.session.send_message(text)

    async def listen(self, audio: bytes) -> None:
        await self.session.send_audio(audio)

    async def close(self) -> None:
        await self.session.close()
        self.reader.cancel()
