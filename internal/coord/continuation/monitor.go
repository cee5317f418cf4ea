package continuation

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "slices"

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Newest     uint32 // the newest answer
	Goes       bool   // something goes on after a kill: the answer Of, or what waited for its first response (0)
	Of, Before uint32
	Due, Heard bool // it is due; the user has heard the beginning of one
	Back       bool // the client is back
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	none := Seen{Newest: g.Newest}
	switch e := step.Event.(type) {
	case Kept:
		if !g.Goes {
			return Seen{Newest: max(1, g.Newest), Goes: true, Of: 1, Due: e.Due, Heard: e.Due && e.Heard}
		}
	case Created:
		before := g
		g.Newest, none.Newest = e.Of, e.Of
		switch {
		case !e.Says:
			g = Seen{Newest: e.Of, Goes: true, Of: e.Of}
			if e.Behind && before.Goes && !before.Due {
				g.Before = before.Of
			}
		case !g.Due:
			return none
		}
	case Called:
		if !g.Due {
			return none
		}
	case Cancelled:
		if g.Before == 0 {
			return none
		}
		g.Of, g.Before = g.Before, 0
	case TakenOver:
		return g.takenOver(e)
	case Settled:
		g.Back = g.Due
	case Turn:
		if g.Due {
			return none
		}
	case Lost, Free:
	}
	return g
}

func (g Seen) takenOver(e TakenOver) Seen {
	next := Seen{Newest: g.Newest, Goes: true, Of: g.Of, Due: true, Heard: e.Heard || g.Heard}
	switch {
	case e.Queued && !e.Newest:
		next.Of = 0
	case !g.Goes || !g.Due && !e.Heard && (!e.Under || e.Newest):
		return Seen{Newest: g.Newest}
	}
	return next
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	if _, goes := f.(Continue); goes {
		g.Due, g.Heard, g.Back = false, false, false
	}
	return g
}

func effectsFit(before, _ Seen, step edge) bool {
	var want []Effect
	switch e := step.Event.(type) {
	case Lost:
		want = []Effect{End{e.Called}}
	case TakenOver:
		want = tell(e)
	case Free:
		if before.Due && before.Back {
			want = []Effect{Continue{before.Of, before.Heard}}
		}
	case Kept, Created, Called, Cancelled, Settled, Turn:
	}
	return slices.Equal(step.Effects, want)
}

func stateAgrees(_, after Seen, step edge) bool {
	want := Seen{Newest: after.Newest}
	switch s := step.To.(type) {
	case Quiet:
	case Answered:
		want = Seen{Newest: after.Newest, Goes: true, Of: s.Of, Before: s.Before}
	case Due:
		want = Seen{Newest: after.Newest, Goes: true, Of: s.Of, Due: true, Heard: s.Heard, Back: s.Ready}
	}
	return after == want
}
