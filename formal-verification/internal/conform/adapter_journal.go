package conform

// The adapter of journal.fizz: compares it with the table of internal/coord/journal.

import "github.com/antiphon-rt/antiphon/internal/coord/journal"

// journalRecords is RECORDS of specs/journal.fizz.
const journalRecords = 3

// journalMachine returns the adapter. It leaves out Ended of what the monitor remembers: the machine is closed in the same step.
func journalMachine() Comparer {
	return watched("journal", journal.Table, journal.Monitor, journal.State(journal.Waiting{}), journal.Values, journalEvents,
		func(g journal.Seen) map[string]any {
			return map[string]any{"seen": map[string]any{
				"recorded": g.Recorded, "stored": g.Stored, "released": g.Released, "armed": g.Armed, "asked": g.Asked.String(), "doubt": g.Doubt,
				"broken": g.Broken, "begun": g.Begun, "gone": g.Gone, "over": g.Over, "down": g.Down,
			}}
		})
}

// journalEvents returns every event, with every record of the domain and two beyond it.
func journalEvents(s journal.State, _ journal.Seen) []Labelled[journal.Event] {
	o := offer[journal.Event]{
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
		o.add(journal.Stored{To: r}, "%s to=%d", stored, r)
		o.add(journal.Found{To: r}, "%s to=%d", found, r)
		o.add(journal.Late{Record: r}, "Late record=%d", r)
		if r <= journalRecords {
			o.add(journal.Recorded{Record: r}, "Recorded record=%d", r)
		}
	}
	return o
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
