package sdktest

// Scripts: a test as a list of steps.

import (
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// Run plays a script: see the package comment. It fails the test at the first step that cannot be done.
func (s *Server) Run(script string) {
	s.t.Helper()
	line := 0
	for step := range strings.Lines(script) {
		line++
		step = strings.TrimSpace(step)
		if step == "" || strings.HasPrefix(step, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(step, " ")
		rest = strings.TrimSpace(rest)
		switch verb {
		case "expect":
			s.Expect(rest)
		case "send":
			s.SendText(rest)
		case "advance":
			d, err := time.ParseDuration(rest)
			if err != nil {
				s.t.Fatalf("line %d of the script: %v", line, err)
				return
			}
			s.Clock.Advance(d)
		case "tell":
			e := happening(rest)
			if e == nil {
				s.t.Fatalf("line %d of the script: nothing is called %q", line, rest)
				return
			}
			s.Tell(e)
		default:
			s.t.Fatalf("line %d of the script: %q is no step", line, verb)
			return
		}
	}
}

// happening returns the event of a call that a script can name; nil for any other name.
func happening(name string) sdk.PeerEvent {
	switch name {
	case "opened":
		return sdk.PeerOpened{}
	case "lost":
		return sdk.PeerLost{}
	case "restored":
		return sdk.PeerRestored{}
	case "broken":
		return sdk.PeerBroken{}
	case "ended":
		return sdk.PeerEnded{}
	case "speech-onset":
		return sdk.SpeechOnset{}
	case "speech-sustained":
		return sdk.SpeechSustained{}
	case "speech-ended":
		return sdk.SpeechEnded{}
	case "unplugged":
		return sdk.MicrophoneFailed{Err: sdk.ErrNoMicrophone}
	}
	return nil
}
