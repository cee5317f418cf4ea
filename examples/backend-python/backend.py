"""A recogniser for Antiphon in Python: it hears how long the user speaks.

    python3 backend.py 127.0.0.1:50051

It needs Debian's packages python3-grpcio and python3-protobuf. Put your engine in place of the class Engine.
The file internal/engine/backend/rpc/pb/backend.proto has the protocol; backend.binpb is made from it.
"""

import signal
import sys
from concurrent import futures
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

RATE = 16000  # samples a second
MESSAGE = 32 << 20  # bytes: six minutes of audio in one message
PACKAGE = "antiphon.backend.v1."


def load():
    """Returns a function that gives the class of each message of the protocol."""
    files = descriptor_pb2.FileDescriptorSet.FromString((Path(__file__).parent / "backend.binpb").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    if hasattr(message_factory, "GetMessageClass"):
        return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(PACKAGE + name))
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName(PACKAGE + name))


message = load()
Description, DescribeRequest, Result = message("Description"), message("DescribeRequest"), message("Result")
TranscribeRequest, TranscribeResponse = message("TranscribeRequest"), message("TranscribeResponse")
RecogniseRequest = message("RecogniseRequest")


class Engine:
    """Recognises one utterance: it says "second" for each second of audio."""

    def __init__(self, config):
        self.config = config
        self.samples = 0

    def feed(self, pcm):
        """Takes samples (floats, mono, 16 kHz) and returns the text that is new."""
        before = self.samples // RATE
        self.samples += len(pcm)
        return "second " * (self.samples // RATE - before)

    def finish(self):
        """Returns the text of the whole utterance."""
        return f"{self.samples / RATE:.1f} seconds"


def describe(request, context):
    return Description(name="python-example", detail="counts seconds", live=True)


def transcribe(requests, context):
    first = next(requests, None)
    if first is None or first.WhichOneof("request") != "config":
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "want the configuration first")
    # A back end without live results ends the call here: context.abort(grpc.StatusCode.UNIMPLEMENTED, "no live results").
    engine = Engine(first.config)
    answer = TranscribeResponse()
    answer.ready.SetInParent()
    yield answer
    for request in requests:
        delta = engine.feed(request.audio.pcm)
        if delta:
            answer = TranscribeResponse()
            answer.update.delta = delta
            yield answer
    answer = TranscribeResponse()
    answer.result.text = engine.finish()
    answer.result.eou = True  # the user has finished
    yield answer


def recognise(request, context):
    engine = Engine(request.config)
    engine.feed(request.audio.pcm)
    return Result(text=engine.finish(), eou=True)


def serve(address):
    methods = {
        "Describe": grpc.unary_unary_rpc_method_handler(describe, DescribeRequest.FromString, Description.SerializeToString),
        "Recognise": grpc.unary_unary_rpc_method_handler(recognise, RecogniseRequest.FromString, Result.SerializeToString),
        "Transcribe": grpc.stream_stream_rpc_method_handler(transcribe, TranscribeRequest.FromString, TranscribeResponse.SerializeToString),
    }
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8), options=[("grpc.max_receive_message_length", MESSAGE)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(PACKAGE + "Backend", methods),))
    port = server.add_insecure_port(address)
    server.start()
    print(f"listening on port {port}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: server.stop(1))
    server.wait_for_termination()


if __name__ == "__main__":
    serve(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50051")
