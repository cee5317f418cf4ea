package conform

// The driver of the client in the comparison with bargein.fizz: it performs the effects of coord/bargein on a small model.

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/bargein"
)

// bargeinDriver performs the client's effects. It has the level, the timers, the playback and the messages that were sent.
type bargeinDriver struct {
	level                   string
	muted, begun            bool
	at, mark, watch, newest int
	timers                  []int
	sent                    []string
	wrong                   string // an effect that says something else than is so, or comes too early
}

func (x exchange) driver() bargeinDriver {
	p := x.Driver
	return bargeinDriver{
		level: p.Level, muted: p.Muted, begun: p.Begun, at: p.At, mark: p.Mark, watch: p.Watch, newest: p.Newest,
		timers: slices.Clone(p.Timers),
	}
}

func (d *bargeinDriver) plays(mark int) {
	if mark == bargeinSilence-1 || d.muted {
		return // the next response is no place in this one
	}
	if d.at = mark; mark > bargeinSilence {
		d.mark = mark - bargeinSilence
	}
}

func (d *bargeinDriver) must(f bargein.Effect, so bool) {
	if !so {
		d.wrong = fmt.Sprintf("%s %v", f.Name(), f)
	}
}

func (d *bargeinDriver) perform(f bargein.Effect) {
	switch f := f.(type) {
	case bargein.Duck:
		d.must(f, d.level != "ducked")
		d.level = "ducked"
	case bargein.Silence:
		d.must(f, d.level != "silent")
		d.level = "silent"
	case bargein.Restore:
		d.must(f, d.level != "full")
		d.level = "full"
	case bargein.SendCandidate:
		d.must(f, d.level == "ducked" && f.Resp == 1 && int(f.At) == d.at)
		d.newest = int(f.Candidate)
		d.sent = append(d.sent, fmt.Sprintf("candidate %d %d", f.Candidate, f.At))
	case bargein.ArmDeadline:
		d.timers = append(d.timers, int(f.Candidate))
	case bargein.AwaitPosition:
		d.must(f, d.watch < int(f.Candidate) && int(f.At) == bargeinSilence+int(f.Candidate))
		d.watch = int(f.Candidate)
	case bargein.SendReady:
		d.must(f, d.level == "full")
		d.sent = append(d.sent, fmt.Sprintf("ready %d %d", f.Candidate, f.At))
	case bargein.Mute:
		d.must(f, !d.muted && f.Resp == 1)
		d.muted = true
	case bargein.SendHeard:
		d.must(f, d.muted && f.Resp == 1)
		d.sent = append(d.sent, fmt.Sprintf("heard %d", f.At))
	}
}
