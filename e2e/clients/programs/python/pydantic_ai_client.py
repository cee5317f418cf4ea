"""An application with the realtime session of the package pydantic-ai."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    PartEndEvent,
    RealtimeInputSpeechStartEvent,
    RealtimeInputTranscriptionErrorEvent,
    RealtimeSessionErrorEvent,
    SpeechPart,
)
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.realtime.openai import OpenAIRealtimeModel

import program


class Client(program.Program):
    async def connect(self) -> None:
        agent = Agent(instructions="Be brief.")

        @agent.tool_plain
        def look_up_weather(place: str) -> str:
            """The weather of a place."""
            return self.look_up_weather(place)

        model = OpenAIRealtimeModel("gpt-realtime", provider=OpenAIProvider(base_url=self.url + "/v1", api_key=self.key))
        self.scope = agent.realtime(model).session()
        self.session = await self.scope.__aenter__()
        self.readers = [asyncio.create_task(self.read()), asyncio.create_task(self.play())]

    async def read(self) -> None:
        async for e in self.session:
            if isinstance(e, RealtimeSessionErrorEvent | RealtimeInputTranscriptionErrorEvent):
                self.errors.append(str(e))
            elif isinstance(e, RealtimeInputSpeechStartEvent):
                self.interruptions += 1
            elif isinstance(e, PartEndEvent) and isinstance(e.part, SpeechPart):
                (self.said if e.part.speaker == "assistant" else self.heard).append(e.part.transcript or "")

    async def play(self) -> None:
        async for chunk in self.session.stream_audio():
            self.samples += len(chunk) // 2

    async def write(self, text: str) -> None:
        await self.session.send(text)

    async def listen(self, audio: bytes) -> None:
        await self.session.send_audio(audio)

    async def close(self) -> None:
        await self.scope.__aexit__(None, None, None)
        await asyncio.gather(*self.readers)
