package voicebench

// This file has the recordings.

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The recordings that are measured have names with these initial letters. Others enrol people, and have set the rules.
var letters = flag.String("recordings", "n-z", "initial letters of the recordings")

// recording is a recording of a person or of music, at 16 kHz.
type recording struct {
	folder, name string
	pcm          []float32
}

// recordings returns the recordings in the folders that match pattern, of half a second or more, whose names begin with letters such as
// "n-z".
// Nobody speaks in the prompts called tt-monkeys, beep, silence and *-2tone.
func recordings(b *testing.B, letters, pattern string) (all []recording) {
	files, err := filepath.Glob(filepath.Join("/usr/share/asterisk", pattern, "*.g722"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".g722")
		if initial := strings.ToLower(name[:1]); initial < letters[:1] || initial > letters[len(letters)-1:] {
			continue
		}
		if name == "tt-monkeys" || strings.HasPrefix(name, "beep") || strings.HasSuffix(name, "2tone") {
			continue
		}
		pcm, err := human.Recording(file)
		if err != nil {
			b.Fatal(err)
		}
		if len(pcm) >= human.Rate/2 {
			all = append(all, recording{filepath.Base(filepath.Dir(file)), name, voice.PCM16ToFloat(nil, pcm)})
		}
	}
	if len(all) == 0 {
		b.Fatalf("no recordings in %s: install the packages that the comment of this package names", pattern)
	}
	return all
}
