"""An application with pipecat and its service for OpenAI's realtime models."""

import asyncio
import sys

from loguru import logger

logger.remove()
logger.add(sys.stderr, level="WARNING")

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema  # noqa: E402
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema  # noqa: E402
from pipecat.frames.frames import (  # noqa: E402
    EndFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMMessagesAppendFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline  # noqa: E402
from pipecat.pipeline.runner import PipelineRunner  # noqa: E402
from pipecat.pipeline.task import PipelineParams, PipelineTask  # noqa: E402
from pipecat.processors.aggregators.llm_context import LLMContext  # noqa: E402
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair  # noqa: E402
from pipecat.processors.frame_processor import FrameProcessor  # noqa: E402
from pipecat.services.openai.realtime import events  # noqa: E402
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService  # noqa: E402

import program  # noqa: E402


class Ears(FrameProcessor):
    """Reports what the user said."""

    def __init__(self, owner):
        super().__init__()
        self.owner = owner

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self.owner.heard.append(frame.text)
        await self.push_frame(frame, direction)


class Tap(FrameProcessor):
    """Reports what the agent says."""

    def __init__(self, owner):
        super().__init__()
        self.owner, self.text = owner, ""

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        match frame:
            case TTSAudioRawFrame():
                self.owner.samples += len(frame.audio) // 2
            case LLMTextFrame():
                self.text += frame.text
            case LLMFullResponseEndFrame():
                if self.text:
                    self.owner.said.append(self.text)
                self.text = ""
            case InterruptionFrame():
                self.owner.interruptions += 1
                self.text = ""
            case ErrorFrame():
                self.owner.errors.append(frame.error)
        await self.push_frame(frame, direction)


class Client(program.Program):
    async def connect(self) -> None:
        tool = FunctionSchema("look_up_weather", "The weather of a place.", {"place": {"type": "string"}}, ["place"])
        properties = events.SessionProperties(
            audio=events.AudioConfiguration(
                input=events.AudioInput(
                    transcription=events.InputAudioTranscription(model="whisper-1"), turn_detection=events.TurnDetection()
                )
            )
        )
        model = OpenAIRealtimeLLMService(
            api_key=self.key,
            base_url=self.socket,
            settings=OpenAIRealtimeLLMService.Settings(model="gpt-realtime", session_properties=properties),
        )
        model.register_function("look_up_weather", self.call)
        context = LLMContextAggregatorPair(LLMContext(tools=ToolsSchema(standard_tools=[tool])))
        pipeline = Pipeline([context.user(), Ears(self), model, Tap(self), context.assistant()])
        rates = PipelineParams(audio_in_sample_rate=program.RATE, audio_out_sample_rate=program.RATE)
        self.task = PipelineTask(pipeline, params=rates, idle_timeout_secs=None)
        self.running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(self.task))

    async def call(self, params) -> None:
        # pipecat asks for no answer to a result that comes while it still takes the user for speaking.
        await asyncio.sleep(1)
        await params.result_callback(self.look_up_weather(params.arguments["place"]))

    async def write(self, text: str) -> None:
        message = {"role": "user", "content": text}
        await self.task.queue_frame(LLMMessagesAppendFrame([message], run_llm=True))

    async def listen(self, audio: bytes) -> None:
        await self.task.queue_frame(InputAudioRawFrame(audio, program.RATE, 1))

    async def close(self) -> None:
        await self.task.queue_frame(EndFrame())
        await self.running
