package conn

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of a connection.
type Seen struct {
	Announced bool
	VAD       bool   // turn detection was started and not stopped
	Grace     uint32 // generation number of the grace timer that runs; 0 is none
	Newest    uint32 // generation number of the newest grace timer
	Stopping  bool   // the children were told to end
	Joined    bool   // the children have ended
	Released  bool
	Forgotten bool
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch step.Event.(type) {
	case Restored:
		g.Grace = 0
	case ChildrenDone:
		g.Joined = g.Stopping
	case Opened, SetVAD, Lost, GraceExpired, Close:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case AnnounceSession:
		g.Announced = true
	case StartVAD:
		g.VAD = true
	case StopVAD:
		g.VAD = false
	case ArmGrace:
		g.Grace, g.Newest = f.Gen, f.Gen
	case StopChildren:
		g.Stopping, g.Grace = true, 0
	case ReleaseTransport:
		g.Released = true
	case Forget:
		g.Forgotten = true
	}
	return g
}

func teardownOnce(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Effect) bool { return !g.Forgotten }) &&
		machine.Every(before, step, func(g Seen, _ StopChildren) bool { return !g.Stopping }) &&
		machine.Every(before, step, func(g Seen, _ ReleaseTransport) bool { return !g.Released }) &&
		machine.Every(before, step, func(g Seen, _ Forget) bool { return g.Released })
	_, closed := step.To.(Closed)
	return once && closed == (after.Released && after.Forgotten)
}

func noVADAfterClosing(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ StartVAD) bool { return !g.Stopping }) &&
		machine.Every(before, step, func(g Seen, _ StopChildren) bool { return !g.VAD })
}

func releaseAfterChildren(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ ReleaseTransport) bool { return g.Joined }) &&
		machine.Every(before, step, func(g Seen, _ Forget) bool { return g.Joined })
}

func vadPaired(before, after Seen, step edge) bool {
	paired := machine.Every(before, step, func(g Seen, _ StartVAD) bool { return !g.VAD }) &&
		machine.Every(before, step, func(g Seen, _ StopVAD) bool { return g.VAD })
	on := false
	switch s := step.To.(type) {
	case Live:
		on = s.VAD
	case Interrupted:
		on = s.VAD
	case Connecting, Closing, Closed:
	}
	if e, set := step.Event.(SetVAD); set && Up(step.From) && e.On != after.VAD {
		return false
	}
	return paired && on == after.VAD
}

func announcedOnceAndFirst(before, after Seen, step edge) bool {
	first := machine.Every(before, step, func(g Seen, _ AnnounceSession) bool { return !g.Announced }) &&
		machine.Every(before, step, func(g Seen, _ StartVAD) bool { return g.Announced }) &&
		machine.Every(before, step, func(g Seen, _ ArmGrace) bool { return g.Announced })
	return first && (!Up(step.To) || after.Announced)
}

func lossIsNoEnd(before, after Seen, step edge) bool {
	switch step.Event.(type) {
	case Lost:
		s, interrupted := step.To.(Interrupted)
		armed := interrupted && s.Gen == after.Grace && after.Newest == before.Newest+1
		return !Up(step.From) || armed || step.From == step.To && before.Grace != 0
	case Restored:
		_, live := step.To.(Live)
		return !Up(step.From) || live
	case GraceExpired:
		return before.Grace == 0 || !fits(before, step) || after.Stopping
	case Opened, SetVAD, Close, ChildrenDone:
	}
	return true
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	return fits(before, step) || step.From == step.To && len(step.Effects) == 0
}

// fits reports whether the machine must act on the event of step.
func fits(g Seen, step edge) bool {
	switch e := step.Event.(type) {
	case GraceExpired:
		return g.Grace != 0 && e.Gen == g.Grace
	case ChildrenDone:
		return g.Stopping
	case Opened, SetVAD, Lost, Restored, Close:
	}
	return true
}

func everyCloseCloses(before, after Seen, step edge) bool {
	e, closes := step.Event.(Close)
	if !closes || before.Stopping {
		return true
	}
	n := len(step.Effects)
	return after.Stopping && n > 0 && step.Effects[n-1] == StopChildren(e) && step.To == Closing(e)
}
