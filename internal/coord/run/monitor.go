package run

// The monitor of the machine: what it remembers of earlier steps.

// Seen is what the monitor remembers of a run. It comes from the events and effects alone, and not from the states.
type Seen struct {
	Attempt  Attempt
	Asked    Interaction // the newest question
	Waits    bool        // Asked is pending
	Session  Session     // the one of Asked
	Policy   Policy      // the one of Asked
	Resolved Mode        // how Asked was resolved
	Seq      Seq
	Ended    bool
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	_, runs := step.From.(Running)
	if e, resumes := step.Event.(Resume); resumes && runs && e.Attempt == g.Attempt+1 {
		g.Attempt = e.Attempt
	}
	for _, f := range step.Effects {
		switch f := f.(type) {
		case StateChanged:
			g.Seq, g.Waits = f.Seq, false
			switch e := step.Event.(type) {
			case TurnStarted:
				g.Attempt = e.Attempt
			case TurnNeedsInput:
				g.Asked, g.Session, g.Policy, g.Waits, g.Resolved = e.Interaction, e.Session, e.Policy, true, 0
			case TurnSucceeded, TurnFailed, Reply, Timeout, Cancel, Preserve, Reconcile, Resume:
				g.Session, g.Policy = 0, 0
			}
		case ReplyAccepted:
			g.Seq, g.Resolved = f.Seq, UserReply
		case AutoDecided:
			g.Seq, g.Resolved = f.Seq, AutoDecideTimeout
		case Conclude:
			g.Ended = true
		case StopTurn, DecideAlone, ArmTimeout, AnswerReply:
		}
	}
	return g
}

// changes reports whether step changes the state.
func changes(step edge) bool { return step.From.Name() != step.To.Name() }
