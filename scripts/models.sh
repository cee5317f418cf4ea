#!/bin/sh
# models.sh: fetches the engine and the models of neural speech, and the noise reduction, for the tests into .cache/models: 136 MB, once.
set -eu
cd "$(dirname "$0")/.."
go run ./cmd/antiphon models get --dir .cache/models neural-en rnnoise >/dev/null
