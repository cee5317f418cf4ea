package generation

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what a monitor remembers of one response's generation.
type Seen struct {
	Asked    bool // Ask was taken
	Ran      bool
	Runs     bool // the body's goroutines run
	Due      bool // ReportRefused came: the body will never begin, but its BodyOver has not come yet
	Reported bool // ReportOver came
	Closed   bool
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch step.Event.(type) {
	case Ask:
		if _, announced := step.From.(Announced); announced {
			g.Asked = true
		}
	case BodyOver:
		g.Runs, g.Due = false, false
	case Begin, Refuse, Cancel, Terminal:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f.(type) {
	case Run:
		g.Ran, g.Runs = true, true
	case ReportRefused:
		g.Due = true
	case ReportOver:
		g.Reported = true
	case Close:
		g.Closed = true
	case Stop:
	}
	return g
}

func runOnce(before, _ Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Run) bool { return g.Asked && !g.Ran && !g.Due })
	_, waiting := step.From.(Waiting)
	_, begins := step.Event.(Begin)
	runs := len(step.Effects) > 0 && step.Effects[0] == Effect(Run{})
	return once && runs == (waiting && begins)
}

func closeOnce(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Close) bool { return !g.Closed })
	_, terminal := step.Event.(Terminal)
	return once && Closed(step.To) == after.Closed && (after.Closed == (before.Closed || terminal))
}

func nothingAfterClose(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Run) bool { return !g.Closed })
}

func endIsReported(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ ReportOver) bool { return g.Asked && !g.Reported && !g.Runs && !g.Due }) &&
		machine.Every(before, step, func(g Seen, _ ReportRefused) bool { return g.Asked && !g.Ran && !g.Due && !g.Reported })
	_, over := step.Event.(BodyOver)
	pending := before.Runs || before.Due
	_, waiting := step.To.(Waiting)
	return once && (after.Reported != before.Reported) == (over && pending) &&
		(!after.Asked || waiting || after.Runs || after.Due || after.Reported)
}

func stopOnlyWhatRuns(before, _ Seen, step edge) bool {
	_, cancel := step.Event.(Cancel)
	return machine.Once[Stop](step, cancel && before.Runs && !before.Closed)
}

func endedAtRest(_, after Seen, step edge) bool {
	_, ended := step.To.(Ended)
	return ended == (after.Closed && !after.Runs && !after.Due && (after.Reported || !after.Asked))
}
