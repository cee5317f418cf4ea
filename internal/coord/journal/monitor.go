package journal

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Asked is what the store is being asked for. 0 is nothing.
type Asked uint8

// The questions.
const (
	ForAppend Asked = iota + 1
	ForFull
	ForEnd
	ForLook
)

// String is the name of the question in logs and the spec.
func (a Asked) String() string {
	switch a {
	case ForAppend:
		return "append"
	case ForFull:
		return "full"
	case ForEnd:
		return "end"
	case ForLook:
		return "look"
	}
	return ""
}

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Recorded Record
	Stored   Record // everything up to it is in the log, or was released before the log began
	Released Record
	Armed    Record // the newest record whose time was armed
	Asked    Asked
	Doubt    bool // the outcome of an append is not known
	Broken   bool // the call is not journalled
	Begun    bool
	Gone     bool // the log is gone
	Over     bool // the call has ended in order
	Ended    bool // the entry that ends the log is stored
	Down     bool // fenced or closed
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	g = machine.See(g, step)
	switch step.To.(type) {
	case Fenced, Closed:
		g = Seen{Recorded: g.Recorded, Stored: g.Stored, Released: g.Released, Down: true}
	case Waiting, Resting, Writing, Doubtful, Broken, Mending, Off, Finishing, Ending:
	}
	return g
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	if g.Down {
		return g
	}
	switch e := step.Event.(type) {
	case Begin:
		if !g.Begun {
			g.Begun, g.Stored = true, g.Recorded
		}
	case Recorded:
		if !g.Over {
			g.Recorded = max(g.Recorded, e.Record)
		}
	case Stored:
		return g.stored(e.To)
	case Found:
		if g.Asked == ForLook {
			g.Asked, g.Doubt = 0, false
			if e.To <= g.Recorded {
				g.Stored = e.To
			}
		}
	case Gone:
		if g.Asked == ForLook {
			g.Asked, g.Doubt, g.Gone = 0, false, true
		}
	case Conflict:
		if g.appends() {
			g.Asked, g.Doubt = 0, true
		}
	case Failed:
		if g.Asked != 0 {
			g.Asked, g.Doubt = 0, true
		}
	case Over:
		g.Over = true
	case Taken, Late, Stop:
	}
	return g
}

// appends reports whether an append is under way.
func (g Seen) appends() bool { return g.Asked != 0 && g.Asked != ForLook }

// stored returns what the monitor remembers after the answer that everything up to a record is stored.
func (g Seen) stored(to Record) Seen {
	switch {
	case g.Asked == ForEnd && to == g.Recorded+1:
		g.Asked, g.Ended = 0, true
	case (g.Asked == ForAppend || g.Asked == ForFull) && to <= g.Recorded && (g.Stored < to || g.Broken):
		g.Asked, g.Stored = 0, to
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case Arm:
		g.Armed = f.Record
	case Append:
		g.Asked = ForAppend
	case AppendFull:
		g.Asked = ForFull
	case AppendEnd:
		g.Asked = ForEnd
	case Look:
		g.Asked = ForLook
	case Release:
		g.Released = max(g.Released, f.To)
	case Break:
		g.Broken = true
	case Restore:
		g.Broken = false
	case Fence, Remove:
	}
	return g
}
