package run

// The functions of the table's rows.

func start(s Queued, e TurnStarted) (Running, []Effect) {
	next := Running{e.Attempt, s.Last, s.Resolved, s.Seq + 1}
	return next, []Effect{StateChanged{next.Seq, s.Name(), next.Name(), e.Name(), e.At}}
}

func alone(s Running, e TurnNeedsInput) bool { return e.Attempt == s.Attempt && e.Policy == Auto }

func ask(s Running, e TurnNeedsInput) (WaitingUser, []Effect) {
	next := WaitingUser{s.Attempt, e.Interaction, e.Session, e.Policy, s.Seq + 1}
	return next, append(arm(next), StateChanged{next.Seq, s.Name(), next.Name(), e.Name(), e.At})
}

// arm starts the time after which a waiting run decides by itself, where it may.
func arm(s WaitingUser) []Effect {
	if s.Policy != AutoDecide {
		return nil
	}
	return []Effect{ArmTimeout{s.Pending}}
}

func resume(s Running, e Resume) (Running, []Effect) {
	return Running{e.Attempt, s.Last, s.Resolved, s.Seq}, []Effect{StopTurn{s.Attempt}}
}

func accept(s WaitingUser, e Reply) (Queued, []Effect) {
	next := Queued{s.Attempt, s.Pending, UserReply, s.Seq + 2}
	return next, []Effect{
		ReplyAccepted{s.Seq + 1, s.Pending, UserReply, e.At},
		StateChanged{next.Seq, s.Name(), next.Name(), e.Name(), e.At},
	}
}

func decide(s WaitingUser, e Timeout) (Queued, []Effect) {
	next := Queued{s.Attempt, s.Pending, AutoDecideTimeout, s.Seq + 2}
	return next, []Effect{
		AutoDecided{s.Seq + 1, s.Pending, AutoDecideTimeout, s.Policy},
		StateChanged{next.Seq, s.Name(), next.Name(), e.Name(), e.At},
	}
}

// valid says whether a waiting run can be taken up as it is.
func valid(s WaitingUser, e Preserve) bool {
	return e.Interaction == s.Pending && e.Session == s.Session && e.Session != 0
}

func succeed(s Running, e TurnSucceeded) (Succeeded, []Effect) {
	last := end(s, e.Result)
	return Succeeded(last), tell(s, Succeeded(last), e, e.At)
}

func fail(s Running, e TurnFailed) (Failed, []Effect) {
	last := end(s, e.Result)
	return Failed(last), tell(s, Failed(last), e, e.At)
}

func cancel[From State](s From, e Cancel) (Canceled, []Effect) {
	last := end(s, e.Result)
	return Canceled(last), append(stop(s), tell(s, Canceled(last), e, e.At)...)
}

func reconcile[From State](s From, e Reconcile) (Failed, []Effect) {
	last := end(s, e.Result)
	return Failed(last), append(stop(s), tell(s, Failed(last), e, e.At)...)
}

// answer says to a reply that is not applied how its interaction was resolved. Only
// the newest is remembered.
func answer[From State](s From, e Reply) (From, []Effect) {
	var resolved Mode
	if at := end(s, 0); at.Last == e.Interaction {
		resolved = at.Resolved
	}
	return s, []Effect{AnswerReply{e.Interaction, resolved}}
}

// end is the end of s with that result: a question that is still open is closed unresolved.
func end(s State, result Result) Ended {
	switch s := s.(type) {
	case Queued:
		return Ended{s.Attempt, s.Last, s.Resolved, s.Seq + 1, result}
	case Running:
		return Ended{s.Attempt, s.Last, s.Resolved, s.Seq + 1, result}
	case WaitingUser:
		return Ended{s.Attempt, s.Pending, 0, s.Seq + 1, result}
	case Succeeded:
		return Ended(s)
	case Failed:
		return Ended(s)
	case Canceled:
		return Ended(s)
	}
	return Ended{}
}

// tell is how an end is stored and published.
func tell(s, next State, e Event, at Millis) []Effect {
	last, _ := Terminal(next)
	return []Effect{
		Conclude{next.Name(), last.Result},
		StateChanged{last.Seq, s.Name(), next.Name(), e.Name(), at},
	}
}

// stop tells a running turn that its run is taken from it.
func stop(s State) []Effect {
	if r, runs := s.(Running); runs {
		return []Effect{StopTurn{r.Attempt}}
	}
	return nil
}
