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

// arm returns the effect that starts the time-out of a waiting run, if the policy allows one.
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

// valid reports whether a waiting run can go on as it is after a restart.
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

// answer answers a reply that is not applied, and says how its interaction was resolved. The run knows this only for the newest interaction.
func answer[From State](s From, e Reply) (From, []Effect) {
	var resolved Mode
	if at := end(s, 0); at.Last == e.Interaction {
		resolved = at.Resolved
	}
	return s, []Effect{AnswerReply{e.Interaction, resolved}}
}

// end returns the ended state of s with that result. A question that is still pending stays unresolved.
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

// tell returns the effects that store and publish the end of a run.
func tell(s, next State, e Event, at Millis) []Effect {
	last, _ := Terminal(next)
	return []Effect{
		Conclude{next.Name(), last.Result},
		StateChanged{last.Seq, s.Name(), next.Name(), e.Name(), at},
	}
}

// stop returns the effect that tells a running turn to stop.
func stop(s State) []Effect {
	if r, runs := s.(Running); runs {
		return []Effect{StopTurn{r.Attempt}}
	}
	return nil
}
