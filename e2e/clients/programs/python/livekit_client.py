"""An application with livekit-agents and its plugin for OpenAI's realtime models, without a room."""

import asyncio

import aiohttp
from livekit import rtc
from livekit.agents import Agent, AgentSession, function_tool
from livekit.agents.voice import io
from livekit.plugins import openai

import program


class Microphone(io.AudioInput):
    """The audio that the test sends."""

    def __init__(self):
        super().__init__(label="microphone")
        self.frames: asyncio.Queue = asyncio.Queue()

    async def __anext__(self) -> rtc.AudioFrame:
        return await self.frames.get()


class Speaker(io.AudioOutput):
    """An output that plays at the speed of a speaker, and can be stopped."""

    def __init__(self, owner):
        super().__init__(label="speaker", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=program.RATE)
        self.owner, self.pushed, self.task = owner, 0.0, None
        self.begun = None

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if self.begun is None:
            self.begun = asyncio.get_running_loop().time()
            self.on_playback_started(created_at=self.begun)
        self.pushed += frame.duration
        self.owner.samples += frame.samples_per_channel

    def flush(self) -> None:
        super().flush()
        if self.begun is not None and self.task is None:
            self.task = asyncio.create_task(self.play())

    async def play(self) -> None:
        left = self.begun + self.pushed - asyncio.get_running_loop().time()
        await asyncio.sleep(max(left, 0))
        self.end(self.pushed, False)

    def clear_buffer(self) -> None:
        if self.begun is not None:
            if self.task:
                self.task.cancel()
            self.end(min(asyncio.get_running_loop().time() - self.begun, self.pushed), True)

    def end(self, position: float, interrupted: bool) -> None:
        self.begun, self.pushed, self.task = None, 0.0, None
        self.on_playback_finished(playback_position=position, interrupted=interrupted)


class Client(program.Program):
    async def connect(self) -> None:
        client = self

        class Porter(Agent):
            @function_tool
            async def look_up_weather(self, place: str) -> str:
                """The weather of a place."""
                return client.look_up_weather(place)

        self.http = aiohttp.ClientSession()
        model = openai.realtime.RealtimeModel(
            base_url=self.url + "/v1", api_key=self.key, model="gpt-realtime", http_session=self.http
        )
        self.session = AgentSession(llm=model)
        self.microphone = Microphone()
        self.session.input.audio, self.session.output.audio = self.microphone, Speaker(self)
        self.session.on("error", lambda e: self.errors.append(str(e.error)))
        self.session.on("user_input_transcribed", lambda e: e.is_final and self.heard.append(e.transcript))
        self.session.on("conversation_item_added", self.added)
        await self.session.start(Porter(instructions="Be brief."))

    def added(self, e) -> None:
        if e.item.type != "message" or e.item.role != "assistant":
            return
        if e.item.interrupted:
            self.interruptions += 1
        else:
            self.said.append(e.item.text_content)

    async def write(self, text: str) -> None:
        self.session.generate_reply(user_input=text)

    async def listen(self, audio: bytes) -> None:
        self.microphone.frames.put_nowait(rtc.AudioFrame(audio, program.RATE, 1, len(audio) // 2))

    async def close(self) -> None:
        await self.session.aclose()
        await self.http.close()
