package main

// This file has the flags of the command, and the recordings.

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/voice"
)

// options are the flags.
type options struct {
	root, letters string
}

func main() { command.Main("voicebench", parse, measureSounds) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("voicebench", flag.ContinueOnError)
	f.StringVar(&o.root, "root", "/usr/share/asterisk", "where the recordings are")
	f.StringVar(&o.letters, "letters", "n-z", "initial letters of the recordings, such as n-z")
	err = f.Parse(args)
	return o, err
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
