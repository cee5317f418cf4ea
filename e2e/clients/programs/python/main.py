"""Runs the program of one client: main.py CLIENT OPTIONS."""

import asyncio
import importlib
import json
import sys
import warnings

warnings.simplefilter("ignore")  # what a client will change in its next version

import program  # noqa: E402

asyncio.run(program.serve(importlib.import_module(sys.argv[1] + "_client").Client(**json.loads(sys.argv[2]))))
