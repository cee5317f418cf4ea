package main

// This file has the flags of the command, and the recordings.

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// options are the flags.
type options struct {
	part, root, letters, models string
}

func main() { command.Main("voicebench", parse, run) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("voicebench", flag.ContinueOnError)
	f.StringVar(&o.part, "part", "sounds", "what to measure: sounds or people")
	f.StringVar(&o.root, "root", "/usr/share/asterisk", "where the recordings are")
	f.StringVar(&o.letters, "letters", "n-z", "initial letters of the recordings, such as n-z")
	f.StringVar(&o.models, "models", ".cache/models", "where the models are")
	if err = f.Parse(args); err == nil && o.part != "sounds" && o.part != "people" {
		err = fmt.Errorf("-part: %q: want sounds or people", o.part)
	}
	return o, err
}

func run(ctx context.Context, o options) error {
	if o.part == "people" {
		return measurePeople(ctx, o)
	}
	return measureSounds(ctx, o)
}

// recording is a recording of a person or of music, at 16 kHz.
type recording struct {
	folder, name string
	pcm          []float32
}

// recordings returns the recordings in the folders that match pattern, of half a second or more, whose names begin with the letters of o.
// Nobody speaks in the prompts called tt-monkeys, beep, silence and *-2tone.
func recordings(o options, pattern string) (all []recording, err error) {
	files, err := filepath.Glob(filepath.Join(o.root, pattern, "*.g722"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".g722")
		if initial := strings.ToLower(name[:1]); initial < o.letters[:1] || initial > o.letters[len(o.letters)-1:] {
			continue
		}
		if name == "tt-monkeys" || strings.HasPrefix(name, "beep") || strings.HasSuffix(name, "2tone") {
			continue
		}
		pcm, err := human.Recording(file)
		if err != nil {
			return nil, err
		}
		if len(pcm) >= human.Rate/2 {
			all = append(all, recording{filepath.Base(filepath.Dir(file)), name, voice.PCM16ToFloat(nil, pcm)})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no recordings in %s of %s: install the packages that the comment of this command names", pattern, o.root)
	}
	return all, nil
}
