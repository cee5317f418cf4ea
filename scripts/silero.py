"""Reads sounds from standard input and writes what Silero's voice detector says of them. `make bench-listening PARTS=ends SILERO=1` runs it.

A sound is a 32-bit number of samples, and the samples: 32-bit floats, mono at 16 kHz, all little-endian. The answer is a 32-bit number of windows of
512 samples, and the probability of speech of each as a 32-bit float. Needs the packages onnxruntime and silero-vad (its model, not its code).
"""

import importlib.util
import pathlib
import struct
import sys

import numpy
import onnxruntime

WINDOW, BEFORE, RATE = 512, 64, 16000

folder = pathlib.Path(importlib.util.find_spec("silero_vad").submodule_search_locations[0])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
model = onnxruntime.InferenceSession(folder / "data" / "silero_vad.onnx", options, providers=["CPUExecutionProvider"])


def probabilities(pcm):
    """Returns the probability of each window. The model also gets the 64 samples before a window, and its own state."""
    state = numpy.zeros((2, 1, 128), numpy.float32)
    padded = numpy.concatenate([numpy.zeros(BEFORE, numpy.float32), pcm])
    for at in range(0, len(pcm) - WINDOW + 1, WINDOW):
        window = padded[None, at : at + BEFORE + WINDOW]
        out, state = model.run(None, {"input": window, "state": state, "sr": numpy.array(RATE, numpy.int64)})
        yield float(out[0, 0])


while header := sys.stdin.buffer.read(4):
    pcm = numpy.frombuffer(sys.stdin.buffer.read(4 * struct.unpack("<i", header)[0]), "<f4")
    found = list(probabilities(pcm))
    sys.stdout.buffer.write(struct.pack("<i", len(found)) + numpy.array(found, "<f4").tobytes())
    sys.stdout.buffer.flush()
