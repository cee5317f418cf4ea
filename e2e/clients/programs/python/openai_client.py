"""An application with the package openai: it takes events from a connection and answers them."""

import asyncio
import base64
import json

import openai

import program

TOOL = {
    "type": "function",
    "name": "look_up_weather",
    "description": "The weather of a place.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}


class Client(program.Program):
    async def connect(self) -> None:
        self.client = openai.AsyncOpenAI(api_key=self.key, base_url=self.url + "/v1")
        self.manager = self.client.realtime.connect(model="gpt-realtime")
        self.connection = await self.manager.__aenter__()
        await self.connection.session.update(
            session={"type": "realtime", "tools": [TOOL], "audio": {"input": {"transcription": {"model": "whisper-1"}}}}
        )
        self.reader = asyncio.create_task(self.read())

    async def read(self) -> None:
        async for e in self.connection:
            match e.type:
                case "error":
                    self.errors.append(e.error.message)
                case "response.output_audio.delta":
                    self.samples += len(base64.b64decode(e.delta)) // 2
                case "response.output_audio_transcript.done":
                    self.said.append(e.transcript)
                case "conversation.item.input_audio_transcription.completed":
                    self.heard.append(e.transcript)
                case "response.function_call_arguments.done":
                    result = self.look_up_weather(json.loads(e.arguments)["place"])
                    await self.connection.conversation.item.create(
                        item={"type": "function_call_output", "call_id": e.call_id, "output": result}
                    )
                case "response.done":
                    if e.response.output and e.response.output[0].type == "function_call":
                        await self.connection.response.create()
                    if e.response.status == "cancelled":
                        self.interruptions += 1

    async def write(self, text: str) -> None:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        await self.connection.conversation.item.create(item=item)
        await self.connection.response.create()

    async def listen(self, audio: bytes) -> None:
        await self.connection.input_audio_buffer.append(audio=base64.b64encode(audio).decode())

    async def speech(self, text: str) -> dict:
        """Speaks a text, and transcribes what was spoken, also as a stream."""
        sound = await self.client.audio.speech.create(model="tts-1", voice="alloy", input=text, response_format="wav")
        file = ("speech.wav", sound.content, "audio/wav")
        whole = await self.client.audio.transcriptions.create(model="whisper-1", file=file)
        events = await self.client.audio.transcriptions.create(model="whisper-1", file=file, stream=True)
        deltas, done = "", ""
        async for e in events:
            deltas += e.delta if e.type == "transcript.text.delta" else ""
            done = e.text if e.type == "transcript.text.done" else done
        models = [m.id async for m in self.client.models.list()]
        return {"bytes": len(sound.content), "whole": whole.text, "deltas": deltas, "done": done, "models": models}

    async def transcribe(self, wav: str) -> str:
        file = ("speech.wav", base64.b64decode(wav), "audio/wav")
        return (await self.client.audio.transcriptions.create(model="whisper-1", file=file)).text

    async def close(self) -> None:
        await self.manager.__aexit__(None, None, None)
        await self.reader
        await self.client.close()
