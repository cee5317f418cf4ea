package conform

// The adapter of run.fizz: compares it with the table of internal/coord/run and with its contract.json.

import "github.com/antiphon-rt/antiphon/internal/coord/run"

// QUESTIONS and RESUMES of specs/run.fizz, its clock and its one result.
const (
	runQuestions = 2
	runResumes   = 2
	runNow       = run.Millis(7)
	runResult    = run.Result(1)
)

// runMachine returns the adapter. It needs no domain, because the state has the newest attempt and the newest question. It also
// compares the spec with internal/coord/run/contract.json.
func runMachine() Comparer {
	fields := FieldsOf(run.Values)
	return withContract{Machine[run.State, run.Event, run.Effect, struct{}]{
		Spec: "run", Ghosts: []string{"event", "was"}, Table: run.Table, First: run.Queued{}, Invariants: namesOf(run.Monitor),
		Events: func(s run.State, _ struct{}) []Labelled[run.Event] { return runEvents(s) },
		Vars:   func(s run.State, _ struct{}) map[string]string { return fields(s) },
	}}
}

// runEvents returns events of earlier, current and later attempts, and about questions that are resolved, pending and were never
// asked. It leaves out questions and takeovers beyond the bounds.
func runEvents(s run.State) []Labelled[run.Event] {
	var o offer[run.Event]
	attempt, question := runNewest(s)
	o.add(run.Cancel{Result: runResult, At: runNow}, "Cancel")
	o.add(run.Reconcile{Result: runResult, At: runNow}, "Reconcile")
	for n := range attempt + 3 {
		o.add(run.TurnStarted{Attempt: n, At: runNow}, "TurnStarted n=%d", n)
		o.add(run.TurnSucceeded{Attempt: n, Result: runResult, At: runNow}, "TurnSucceeded n=%d", n)
		o.add(run.TurnFailed{Attempt: n, Result: runResult, At: runNow}, "TurnFailed n=%d", n)
		if n <= runResumes {
			o.add(run.Resume{Attempt: n}, "Resume n=%d", n)
		}
		if question == runQuestions {
			continue
		}
		for session := range run.Session(2) {
			for _, p := range []run.Policy{run.RequireReply, run.AutoDecide, run.Auto} {
				o.add(run.TurnNeedsInput{Attempt: n, Interaction: question + 1, Session: session, Policy: p, At: runNow},
					`TurnNeedsInput n=%d s=%d p="%s"`, n, session, p)
			}
		}
	}
	for i := run.Interaction(1); i <= question+1; i++ {
		o.add(run.Reply{Interaction: i, At: runNow}, "Reply i=%d", i)
		o.add(run.Timeout{Interaction: i, At: runNow}, "Timeout i=%d", i)
		for session := range run.Session(3) {
			o.add(run.Preserve{Interaction: i, Session: session}, "Preserve i=%d s=%d", i, session)
		}
	}
	return o
}

// runNewest returns the newest attempt and the newest question of a run.
func runNewest(s run.State) (run.Attempt, run.Interaction) {
	switch s := s.(type) {
	case run.Queued:
		return s.Attempt, s.Last
	case run.Running:
		return s.Attempt, s.Last
	case run.WaitingUser:
		return s.Attempt, s.Pending
	case run.Succeeded, run.Failed, run.Canceled:
	}
	last, _ := run.Terminal(s)
	return last.Attempt, last.Last
}
