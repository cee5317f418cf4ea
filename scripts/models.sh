#!/bin/sh
# models.sh: fetches the engine and the models of neural speech, and the noise reduction and voice prints, for the tests into .cache/models: 152 MB, once.
set -eu
cd "$(dirname "$0")/.."
go run ./cmd/antiphon models get --dir .cache/models neural-en rnnoise voice-prints >/dev/null
