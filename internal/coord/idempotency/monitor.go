package idempotency

// The monitor of the machine: what it remembers of earlier steps.

// Seen is what the monitor remembers of one key.
type Seen struct {
	Lease    Lease   // the newest lease
	Payload  Payload // the content of the key's request
	Holder   Try     // the try that holds the lock; 0 is none
	Safe     bool    // the holder's operation may be repeated
	Sent     bool    // the holder's request was sent
	Risked   bool    // a request that must not be repeated was sent
	Doubt    Try     // the try whose request was sent, must not be repeated, and has no response; 0 is none
	Done     bool    // a try got Response
	Response Response
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	lost := false
	switch e := step.Event.(type) {
	case Processed:
		lost = e.Try == g.Holder
		if lost || e.Try == g.Doubt {
			g.Sent, g.Doubt = false, 0
		}
	case GaveUp:
		lost = e.Try == g.Holder
	case LeaseExpired:
		lost = g.Holder != 0 && e.Lease == g.Lease
	case Check, Sending:
	}
	if lost {
		if g.Sent && !g.Safe {
			g.Doubt = g.Holder
		}
		g.Holder, g.Sent, g.Safe = 0, false, false
	}
	return g
}

// Effect returns what the monitor remembers after f, one of the effects of step.
func (g Seen) Effect(step edge, f Effect) Seen {
	switch f := f.(type) {
	case ArmLease:
		g.Lease = f.Lease
	case Grant:
		g.Holder = f.Try
		if check, is := step.Event.(Check); is {
			g.Payload, g.Safe = check.Payload, check.Safe
		}
	case Forward:
		g.Sent = true
		g.Risked = g.Risked || !g.Safe
	case Reply:
		g.Done, g.Response = true, f.Response
	case Wait, Refuse, SayUnknown, SayRetry, CheckAgain, Wake:
	}
	return g
}

// answers returns the tries that the effects of step answer.
func answers(step edge) []Try {
	var out []Try
	for _, f := range step.Effects {
		switch f := f.(type) {
		case Grant:
			out = append(out, f.Try)
		case Wait:
			out = append(out, f.Try)
		case Forward:
			out = append(out, f.Try)
		case Reply:
			out = append(out, f.Try)
		case Refuse:
			out = append(out, f.Try)
		case SayUnknown:
			out = append(out, f.Try)
		case SayRetry:
			out = append(out, f.Try)
		case CheckAgain:
			out = append(out, f.Try)
		case ArmLease, Wake:
		}
	}
	return out
}
