package conform

// The adapter of journal.fizz: compares it with the table of internal/coord/journal.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/internal/coord/journal"
)

// journalRecords is RECORDS of specs/journal.fizz.
const journalRecords = 3

type journalWorld = world[journal.State, journal.Seen]

// journalMachine returns the adapter. It also compares the spec's ghost with what the code's monitor remembers.
func journalMachine() Comparer {
	fields := FieldsOf(journal.Values)
	return Machine[journal.State, journal.Event, journal.Effect, journalWorld]{
		Spec: "journal", Table: journal.Table, First: journal.Waiting{},
		Domain: journalWorld{At: journal.Waiting{}},
		Events: journalEvents,
		Grow:   monitored(journal.Table, journal.Monitor),
		Vars: func(s journal.State, w journalWorld) map[string]string {
			return ghosts(fields(s), map[string]any{"seen": journalSeen(w.Seen)})
		},
	}
}

// journalSeen returns what the monitor remembers, with the names of the spec. It leaves out Ended: the machine is closed in the same step.
func journalSeen(g journal.Seen) map[string]any {
	return map[string]any{
		"recorded": g.Recorded, "stored": g.Stored, "released": g.Released, "armed": g.Armed, "asked": g.Asked.String(), "doubt": g.Doubt,
		"broken": g.Broken, "begun": g.Begun, "gone": g.Gone, "over": g.Over, "down": g.Down,
	}
}

// journalEvents returns every event, with every record of the domain and two beyond it.
func journalEvents(s journal.State, _ journalWorld) []Labelled[journal.Event] {
	out := []Labelled[journal.Event]{
		{"Begin", journal.Begin{}},
		{"Conflict", journal.Conflict{}},
		{"Failed", journal.Failed{}},
		{"Taken", journal.Taken{}},
		{"Gone", journal.Gone{}},
		{"Over", journal.Over{}},
		{"Stop", journal.Stop{}},
	}
	for r := range journal.Record(journalRecords + 3) {
		stored, found := journalLabels(s, r)
		out = append(out,
			Labelled[journal.Event]{fmt.Sprintf("%s to=%d", stored, r), journal.Stored{To: r}},
			Labelled[journal.Event]{fmt.Sprintf("%s to=%d", found, r), journal.Found{To: r}},
			Labelled[journal.Event]{fmt.Sprintf("Late record=%d", r), journal.Late{Record: r}},
		)
		if r <= journalRecords {
			out = append(out, Labelled[journal.Event]{fmt.Sprintf("Recorded record=%d", r), journal.Recorded{Record: r}})
		}
	}
	return out
}

// journalLabels returns the actions of the spec for Stored and Found of a record.
func journalLabels(s journal.State, r journal.Record) (stored, found string) {
	newest := journal.Record(0)
	stored, found = "StoredAll", "Found"
	switch s := s.(type) {
	case journal.Writing:
		newest = s.Recorded
	case journal.Finishing:
		newest = s.Recorded
	case journal.Ending:
		newest = s.Last
	case journal.Mending:
		newest, stored = s.Recorded, "StoredWhole"
	case journal.Broken:
		found = "FoundBroken"
	case journal.Waiting, journal.Resting, journal.Doubtful, journal.Off, journal.Fenced, journal.Closed:
	}
	if r != newest {
		stored = "StoredSome"
	}
	return stored, found
}
