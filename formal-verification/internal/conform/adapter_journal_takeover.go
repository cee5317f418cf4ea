package conform

// The adapter of journal_takeover.fizz: two machines of internal/coord/journal, with a model of their drivers, of the store and of the client.

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
)

// The bounds of specs/journal_takeover.fizz.
const (
	takeoverEvents = 1
	takeoverFaults = 2
	noServer       = 2 // in place of a server
)

// itemList is a list of items: one byte each.
type itemList string

func (l itemList) list() []int {
	out := make([]int, len(l))
	for i := range l {
		out[i] = int(l[i])
	}
	return out
}

// accepted returns the number of the client's event that an owner with these items has accepted last.
func (l itemList) accepted() int {
	if l == "" {
		return 0
	}
	return int(l[len(l)-1]) % 10
}

// has reports whether the list has the last item that the client was told.
func (l itemList) has(told itemList) bool {
	return told == "" || strings.Contains(string(l), string(told[len(told)-1:]))
}

// logEnd is the newest entry of the log, and the items up to there.
type logEnd struct {
	Epoch, Record int
	Ends          bool
	Items         itemList
}

// lateAppend is a request that the store may take late.
type lateAppend struct {
	Is    bool
	Known int
	To    logEnd
}

// claimer is a server that has read the newest entry in order to claim the log.
type claimer struct {
	Is            bool
	Epoch, Record int
}

// takeoverWorld is the call: both servers, the store and the client.
type takeoverWorld struct {
	M                  [2]journal.State // nil: no session
	Epoch, Base, Known [2]int
	Items              [2]itemList
	Req                [2]string
	Stray              [2]lateAppend
	Dial               [2]claimer
	Log                logEnd
	At, Asks, Sent     int
	Told               itemList
	Refused            bool
	Faults             int
	Broke, Ended       bool
	Newest             int // the newest epoch that was claimed
}

// takeoverStep is one action: it returns the next world and the effects of the machines.
type takeoverStep func(*takeoverRun)

// takeoverRun is a world in the middle of an action.
type takeoverRun struct {
	takeoverWorld
	table   machine.Table[journal.State, journal.Event, journal.Effect]
	effects []journal.Effect
}

// journalTakeover returns the adapter.
func journalTakeover() Comparer { return takeoverOf(journal.Table) }

func takeoverOf(table machine.Table[journal.State, journal.Event, journal.Effect]) Comparer {
	type none struct{}
	first := takeoverWorld{Epoch: [2]int{1, 0}, Log: logEnd{Epoch: 1}, Asks: noServer, Newest: 1}
	first.M[0] = journal.Resting{}
	return System[takeoverWorld, takeoverStep, journal.Effect, none]{
		Spec: "journal_takeover", Starts: []Start[takeoverWorld, none]{{State: first}},
		Step: func(w takeoverWorld, e takeoverStep) (takeoverWorld, []journal.Effect, string) {
			run := takeoverRun{takeoverWorld: w, table: table}
			e(&run)
			return run.takeoverWorld, run.effects, ""
		},
		Events: func(w takeoverWorld, _ none) []Labelled[takeoverStep] {
			out := w.ofClient()
			for s := range 2 {
				out = append(out, w.ofServer(s)...)
				out = append(out, w.ofStore(s)...)
			}
			return out
		},
		Vars: func(w takeoverWorld, _ none) map[string]string { return w.vars() },
	}
}

// lives reports whether server s has a session of the call.
func (w takeoverWorld) lives(s int) bool {
	switch w.M[s].(type) {
	case nil, journal.Fenced, journal.Closed:
		return false
	}
	return true
}

// released returns how many items of server s the client may know of.
func (w takeoverWorld) released(s int) int {
	to := journal.Record(0)
	switch m := w.M[s].(type) {
	case journal.Resting:
		to = m.Stored
	case journal.Writing:
		to = m.Stored
	case journal.Doubtful:
		to = m.Stored
	case journal.Finishing:
		to = m.Stored
	case journal.Broken:
		to = m.Recorded
	case journal.Mending:
		to = m.Recorded
	case journal.Off:
		to = m.Recorded
	case journal.Ending:
		to = m.Last - 1
	case journal.Waiting, journal.Fenced, journal.Closed, nil:
	}
	return w.Base[s] + int(to)
}

// late returns the record for which Late may come; 0 for none.
func (w takeoverWorld) late(s int) journal.Record {
	switch m := w.M[s].(type) {
	case journal.Writing:
		return m.Stored + 1
	case journal.Doubtful:
		return m.Stored + 1
	case journal.Finishing:
		return m.Stored + 1
	case journal.Ending:
		return m.Last
	case journal.Waiting, journal.Resting, journal.Broken, journal.Mending, journal.Off, journal.Fenced, journal.Closed, nil:
	}
	return 0
}

// over reports whether the session of server s is ending in order.
func (w takeoverWorld) over(s int) bool {
	switch w.M[s].(type) {
	case journal.Finishing, journal.Ending:
		return true
	}
	return false
}

func (w takeoverWorld) mayFail() bool { return w.Faults < takeoverFaults }

// asked returns what the store is asked for, as an entry: the one that an append would make.
func (w takeoverWorld) asked(s int) (look bool, to logEnd) {
	var kind string
	if _, err := fmt.Sscanf(w.Req[s], "%s %d", &kind, &to.Record); err != nil {
		return true, to // "look" has no number
	}
	to.Epoch, to.Ends, to.Items = w.Epoch[s], kind == "end", w.Items[s]
	if !to.Ends {
		to.Items = to.Items[:w.Base[s]+to.Record]
	}
	return false, to
}

// --- the driver

// on gives the machine of server s an event and performs the effects.
func (r *takeoverRun) on(s int, e journal.Event) {
	next, effects, _ := r.table.Next(r.M[s], e)
	r.M[s] = next
	r.effects = append(r.effects, effects...)
	for _, f := range effects {
		switch f := f.(type) {
		case journal.Append:
			r.Req[s] = fmt.Sprintf("append %d", f.To)
		case journal.AppendFull:
			r.Req[s] = fmt.Sprintf("append %d", len(r.Items[s])-r.Base[s])
		case journal.AppendEnd:
			r.Req[s] = fmt.Sprintf("end %d", f.To)
		case journal.Look:
			r.Req[s] = "look"
		case journal.Break:
			r.Broke = true
		case journal.Remove:
			r.Log = logEnd{}
		case journal.Arm, journal.Release, journal.Restore, journal.Fence:
		}
	}
	if !r.lives(s) {
		r.drop(s)
	}
}

// drop ends the session of server s.
func (r *takeoverRun) drop(s int) {
	if r.Req[s] != "" {
		r.lose(s)
	}
	r.Epoch[s], r.Base[s], r.Known[s], r.Items[s] = 0, 0, 0, ""
	if r.At == s {
		r.At = noServer
	}
}

// lose forgets what the store was asked for. If it was an append, the store may take it late.
func (r *takeoverRun) lose(s int) {
	if look, to := r.asked(s); !look && !r.Stray[s].Is {
		r.Stray[s] = lateAppend{true, r.Known[s], to}
	}
	r.Req[s] = ""
}

// store appends an entry if the newest one is the record known of the same epoch. It reports whether that was so.
func (r *takeoverRun) store(known int, to logEnd) bool {
	if r.Log.Epoch != to.Epoch || r.Log.Record != known || r.Log.Ends {
		return false
	}
	r.Log = to
	r.Ended = r.Ended || to.Ends
	return true
}

// take gives the session of server s the client's events that it does not know.
func (r *takeoverRun) take(s int) {
	for k := r.Items[s].accepted() + 1; k <= r.Sent; k++ {
		r.Items[s] += itemList([]byte{byte(10*r.Epoch[s] + k)})
		r.on(s, journal.Recorded{Record: journal.Record(len(r.Items[s]) - r.Base[s])})
	}
}

func (r *takeoverRun) connect(s int) {
	r.At, r.Asks = s, noServer
	r.take(s)
}

// dial is the client's request to server s. answered: the store says who owns the call.
func (r *takeoverRun) dial(s int, answered bool) {
	switch {
	case !answered:
		r.Faults++
	case r.lives(s) && r.Log.Epoch > r.Epoch[s]:
		r.on(s, journal.Taken{})
	}
	if r.lives(s) && r.Items[s][:r.released(s)].has(r.Told) {
		r.connect(s)
		return
	}
	if r.lives(s) {
		r.on(s, journal.Stop{})
	}
	r.Asks = s
	r.read(s)
}

// read reads the newest entry for server s, or refuses the client.
func (r *takeoverRun) read(s int) {
	r.Dial[s] = claimer{}
	switch {
	case r.Log.Epoch != 0 && !r.Log.Ends && r.Log.Items.has(r.Told):
		r.Dial[s] = claimer{true, r.Log.Epoch, r.Log.Record}
	case r.Asks == s:
		r.Asks, r.Refused = noServer, true
	}
}

// --- the actions

func (w takeoverWorld) ofClient() (out []Labelled[takeoverStep]) {
	add := func(may bool, label string, step takeoverStep) {
		if may {
			out = append(out, Labelled[takeoverStep]{label, step})
		}
	}
	add(w.Sent < takeoverEvents && !w.Refused, "Speak", func(r *takeoverRun) {
		if r.Sent++; r.At != noServer {
			r.take(r.At)
		}
	})
	add(w.At != noServer && len(w.Told) < w.released(w.At%noServer), "Hear", func(r *takeoverRun) { r.Told = r.Items[r.At][:r.released(r.At)] })
	add(w.At != noServer && w.mayFail(), "Leave", func(r *takeoverRun) { r.Faults++; r.At = noServer })
	add(w.Asks != noServer && w.mayFail(), "Forsake", func(r *takeoverRun) { r.Faults++; r.Asks = noServer })
	for s := range 2 {
		for _, answered := range []bool{true, false} {
			may := w.At == noServer && w.Asks == noServer && !w.Refused && (answered || w.lives(s) && w.mayFail())
			add(may, fmt.Sprintf("Dial s=%d answered=%v", s, answered), func(r *takeoverRun) { r.dial(s, answered) })
		}
	}
	return out
}

func (w takeoverWorld) ofServer(s int) (out []Labelled[takeoverStep]) {
	add := func(may bool, label string, step takeoverStep) {
		if may && !w.Refused {
			out = append(out, Labelled[takeoverStep]{fmt.Sprintf(label, s), step})
		}
	}
	current := w.Dial[s].Is && w.Dial[s] == claimer{true, w.Log.Epoch, w.Log.Record} && !w.Log.Ends
	add(w.Dial[s].Is && !w.lives(s), "Claim s=%d", func(r *takeoverRun) {
		if !current {
			r.read(s)
			return
		}
		r.Epoch[s] = r.Log.Epoch + 1
		r.Log.Epoch, r.Log.Record, r.Newest = r.Epoch[s], 0, r.Epoch[s]
		r.Items[s], r.Base[s], r.Known[s] = r.Log.Items, len(r.Log.Items), 0
		r.M[s], r.Dial[s] = journal.Resting{}, claimer{}
		if r.Asks == s {
			r.connect(s)
		}
	})
	add(current && w.mayFail(), "LoseClaim s=%d", func(r *takeoverRun) {
		r.Faults++
		r.Newest = r.Log.Epoch + 1
		r.Log.Epoch, r.Log.Record, r.Dial[s] = r.Newest, 0, claimer{}
		if r.Asks == s {
			r.Asks = noServer
		}
	})
	add((w.lives(s) || w.Dial[s].Is) && w.mayFail(), "Die s=%d", func(r *takeoverRun) {
		r.Faults++
		r.drop(s)
		r.M[s], r.Dial[s] = nil, claimer{}
		if r.Asks == s {
			r.Asks = noServer
		}
	})
	add(w.lives(s) && !w.over(s) && w.At != s, "Grace s=%d", func(r *takeoverRun) { r.on(s, journal.Over{}) })
	add(w.late(s) != 0 && w.mayFail(), "Late s=%d", func(r *takeoverRun) { r.Faults++; r.on(s, journal.Late{Record: r.late(s)}) })
	return out
}

func (w takeoverWorld) ofStore(s int) (out []Labelled[takeoverStep]) {
	if w.Refused {
		return nil
	}
	look, _ := w.asked(s)
	if w.Req[s] != "" {
		out = append(out, Labelled[takeoverStep]{fmt.Sprintf("Serve s=%d", s), func(r *takeoverRun) { r.serve(s) }})
	}
	for _, stored := range []bool{false, true} {
		if w.Req[s] != "" && w.mayFail() && !(look && stored) {
			out = append(out, Labelled[takeoverStep]{fmt.Sprintf("Lose s=%d stored=%v", s, stored), func(r *takeoverRun) {
				r.Faults++
				if _, to := r.asked(s); stored {
					r.store(r.Known[s], to)
					r.Req[s] = ""
				} else {
					r.lose(s)
				}
				r.on(s, journal.Failed{})
			}})
		}
	}
	if w.Stray[s].Is {
		out = append(out, Labelled[takeoverStep]{fmt.Sprintf("Stray s=%d", s), func(r *takeoverRun) {
			r.store(r.Stray[s].Known, r.Stray[s].To)
			r.Stray[s] = lateAppend{}
		}})
	}
	return out
}

// serve does what the store is asked for, and tells the server the outcome.
func (r *takeoverRun) serve(s int) {
	look, to := r.asked(s)
	r.Req[s] = ""
	switch {
	case look && r.Log.Epoch == 0:
		r.on(s, journal.Gone{})
	case look && (r.Log.Epoch != r.Epoch[s] || r.Log.Ends):
		r.on(s, journal.Taken{})
	case look:
		r.Known[s] = r.Log.Record
		r.on(s, journal.Found{To: journal.Record(r.Log.Record)})
	case r.store(r.Known[s], to):
		r.Known[s] = to.Record
		r.on(s, journal.Stored{To: journal.Record(to.Record)})
	default:
		r.on(s, journal.Conflict{})
	}
}

// --- the variables

func (w takeoverWorld) vars() map[string]string {
	var m, items, stray, dial [2]any
	for s := range 2 {
		m[s], items[s] = takeoverState(w.M[s]), w.Items[s].list()
		stray[s], dial[s] = []any{}, []any{}
		if l := w.Stray[s]; l.Is {
			stray[s] = []any{l.To.Epoch, l.Known, l.To.Record, l.To.Ends, l.To.Items.list()}
		}
		if d := w.Dial[s]; d.Is {
			dial[s] = []any{d.Epoch, d.Record}
		}
	}
	return ghosts(map[string]string{}, map[string]any{
		"m": m, "epoch": w.Epoch, "base": w.Base, "items": items, "known": w.Known, "req": w.Req, "stray": stray, "dial": dial,
		"log": []any{w.Log.Epoch, w.Log.Record, w.Log.Ends, w.Log.Items.list()}, "at": w.At, "asks": w.Asks, "sent": w.Sent,
		"told": w.Told.list(), "refused": w.Refused, "faults": w.Faults, "broke": w.Broke, "ended": w.Ended, "newest": w.Newest,
	})
}

// journalFields returns the fields of a machine's state, by name.
var journalFields = FieldsOf(journal.Values)

// takeoverState returns a machine's state as the spec writes it: its name, recorded, stored, last.
func takeoverState(s journal.State) []any {
	if s == nil {
		return []any{"None", 0, 0, 0}
	}
	out := []any{s.Name()}
	for _, name := range []string{"recorded", "stored", "last"} {
		out = append(out, json.RawMessage(journalFields(s)[name]))
	}
	return out
}
