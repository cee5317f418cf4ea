package conform

// The adapter of journal_takeover.fizz: two machines of internal/coord/journal. Their drivers, the store and the client are the spec's.

import (
	"encoding/json"
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
)

// owners are the machines of both servers. A server without a session has none.
type owners [2]journal.State

// takeover has the variables of the spec that say what the machines are told.
type takeover struct {
	M                  [2]takeoverState
	Epoch, Base, Known [2]int
	Items              [2][]int
	Req                [2]string
	Log                logEnd
	At                 int
}

// takeoverState is a machine's state as the spec writes it.
type takeoverState struct {
	Name                   string
	Recorded, Stored, Last int
}

// logEnd is the newest entry of the log.
type logEnd struct {
	Epoch, Record int
	Ends          bool
}

func (s *takeoverState) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&s.Name, &s.Recorded, &s.Stored, &s.Last})
}

func (l *logEnd) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&l.Epoch, &l.Record, &l.Ends})
}

func journalTakeover() Comparer { return takeoverOf(journal.Table) }

func takeoverOf(table machine.Table[journal.State, journal.Event, journal.Effect]) Comparer {
	return Part[owners, journal.Effect]{
		Spec: "journal_takeover", Starts: []owners{{journal.Resting{}, nil}},
		Step: func(m owners, step move) (owners, []journal.Effect, string) {
			run := takeoverRun{owners: m, table: table, was: decoded[takeover](step.was), is: decoded[takeover](step.is)}
			run.take(step)
			return run.owners, run.effects, ""
		},
		Vars: func(m owners) map[string]string {
			return map[string]string{"m": JSON([]any{ownerState(m[0]), ownerState(m[1])})}
		},
		Ghosts: []string{
			"epoch", "base", "items", "known", "req", "stray", "dial", "log", "at", "asks", "sent", "told", "refused", "faults", "broke", "ended", "newest",
		},
	}
}

// takeoverRun is a step of the spec while it is taken. was and is have the variables before and after it.
type takeoverRun struct {
	owners
	table   machine.Table[journal.State, journal.Event, journal.Effect]
	effects []journal.Effect
	was, is takeover
}

func (r *takeoverRun) on(s int, e journal.Event) {
	next, effects, _ := r.table.Next(r.owners[s], e)
	r.owners[s] = next
	r.effects = append(r.effects, effects...)
}

// lives reports whether server s has a session of the call.
func (r *takeoverRun) lives(s int) bool {
	switch r.owners[s].(type) {
	case nil, journal.Fenced, journal.Closed:
		return false
	}
	return true
}

// take gives the machines the events of a step: those that come with it, and then each record that the spec adds to a session.
func (r *takeoverRun) take(step move) {
	s := step.number("s")
	var had [2]int // records of each session
	for s := range had {
		had[s] = len(r.was.Items[s]) - r.was.Base[s]
	}
	switch step.Action {
	case "Dial":
		if step.choice("answered") == "True" && r.lives(s) && r.was.Log.Epoch > r.was.Epoch[s] {
			r.on(s, journal.Taken{})
		}
		if r.lives(s) && r.is.At != s {
			r.on(s, journal.Stop{})
		}
	case "Claim":
		if r.is.Epoch[s] != r.was.Epoch[s] {
			r.owners[s], had[s] = journal.Resting{}, 0
		}
	case "Die":
		r.owners[s] = nil
	case "Grace":
		r.on(s, journal.Over{})
	case "Late":
		m := r.was.M[s]
		r.on(s, journal.Late{Record: journal.Record(max(m.Stored+1, m.Last))})
	case "Serve":
		r.on(s, r.was.answer(s))
	case "Lose":
		r.on(s, journal.Failed{})
	}
	for s := range had {
		for n := had[s] + 1; n <= len(r.is.Items[s])-r.is.Base[s]; n++ {
			r.on(s, journal.Recorded{Record: journal.Record(n)})
		}
	}
}

// answer is what the store answers to the request of server s.
func (x takeover) answer(s int) journal.Event {
	owns := x.Log.Epoch == x.Epoch[s] && !x.Log.Ends
	var kind string
	var to journal.Record
	_, err := fmt.Sscanf(x.Req[s], "%s %d", &kind, &to)
	looks := err != nil // "look" has no number
	switch {
	case looks && x.Log.Epoch == 0:
		return journal.Gone{}
	case looks && owns:
		return journal.Found{To: journal.Record(x.Log.Record)}
	case looks:
		return journal.Taken{}
	case owns && x.Log.Record == x.Known[s]:
		return journal.Stored{To: to}
	}
	return journal.Conflict{}
}

// journalFields returns the fields of a machine's state, by name.
var journalFields = FieldsOf(journal.Values)

// ownerState returns a machine's state as the spec writes it: its name, recorded, stored, last.
func ownerState(s journal.State) []any {
	if s == nil {
		return []any{"None", 0, 0, 0}
	}
	out := []any{s.Name()}
	for _, name := range []string{"recorded", "stored", "last"} {
		out = append(out, json.RawMessage(journalFields(s)[name]))
	}
	return out
}
