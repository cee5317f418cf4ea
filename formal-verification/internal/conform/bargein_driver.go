package conform

// The driver of the client in the comparison with bargein.fizz: it performs the effects of coord/bargein on a small model.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/bargein"
)

// bargeinDriver has the level, the timers and the playback of the client.
type bargeinDriver struct {
	Level                   string
	Muted, Begun, Returning bool
	At, Mark, Watch, Newest int
	Timers                  []int
}

// clientDriver performs the client's effects. It also has the messages that were sent.
type clientDriver struct {
	bargeinDriver
	sent  []string
	wrong string // an effect that says something else than is so, or comes too early
}

func (d *clientDriver) plays(mark int) {
	if mark == bargeinSilence-1 || d.Muted {
		return // the next response is no place in this one
	}
	if d.At = mark; mark > bargeinSilence && mark < bargeinAgain {
		d.Mark = mark - bargeinSilence
	}
}

func (d *clientDriver) must(f bargein.Effect, so bool) {
	if !so {
		d.wrong = fmt.Sprintf("%s %v", f.Name(), f)
	}
}

func (d *clientDriver) perform(f bargein.Effect) {
	switch f := f.(type) {
	case bargein.Duck:
		d.must(f, d.Level != "ducked")
		d.Level = "ducked"
	case bargein.Silence:
		d.must(f, d.Level != "silent")
		d.Level = "silent"
	case bargein.Restore:
		d.must(f, d.Level != "full")
		d.Level = "full"
	case bargein.SendCandidate:
		d.must(f, d.Level == "ducked" && f.Resp == 1 && int(f.At) == d.At)
		d.Newest = int(f.Candidate)
		d.sent = append(d.sent, fmt.Sprintf("candidate %d %d", f.Candidate, f.At))
	case bargein.ArmDeadline:
		d.Timers = append(d.Timers, int(f.Candidate))
	case bargein.AwaitPosition:
		d.must(f, d.Watch < int(f.Candidate) && int(f.At) == bargeinSilence+int(f.Candidate))
		d.Watch = int(f.Candidate)
	case bargein.SendReady:
		d.must(f, d.Level == "full")
		d.sent = append(d.sent, fmt.Sprintf("ready %d %d", f.Candidate, f.At))
	case bargein.Mute:
		d.must(f, !d.Muted && f.Resp == 1)
		d.Muted = true
	case bargein.SendHeard:
		d.must(f, d.Muted && f.Resp == 1)
		d.sent = append(d.sent, fmt.Sprintf("heard %d", f.At))
	}
}

// goesBack lowers the agent where a rejection asks the server to go back, and until then. What ends the response or the wait for the verdict ends this too.
func (d *clientDriver) goesBack(next bargein.State, e bargein.Event, effects []bargein.Effect, taken bool) {
	switch e.(type) {
	case bargein.Rejected:
		for _, f := range effects {
			_, asks := f.(bargein.SendReady)
			d.Returning = d.Returning || asks
		}
		if taken && d.Returning {
			d.Level = "ducked"
		}
	case bargein.Expired, bargein.Confirmed, bargein.Began, bargein.Ended, bargein.Close:
		if taken {
			d.back(next)
		}
	case bargein.Onset, bargein.Sustained, bargein.VoiceEnded, bargein.Acked, bargein.Passed:
	}
}

// back plays the agent at full level again, unless a candidate waits.
func (d *clientDriver) back(s bargein.State) {
	if name := s.Name(); d.Returning && name != (bargein.Ducked{}).Name() && name != (bargein.Silenced{}).Name() {
		d.Level = "full"
	}
	d.Returning = false
}
