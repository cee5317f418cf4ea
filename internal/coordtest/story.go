package coordtest

// Stories: text files with a sequence of events. The test plays them and compares each step with the expected result.

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Stories runs every story in testdata: all of its .txt files but the golden
// ones. A story starts in the first state and knows two commands:
//
//	step Onset turn=1 agent_audible
//	----
//	OpenCandidate: Idle -> Candidate turn=1
//	  OpenCandidate turn=1
//
// takes one event; its fields are written in snake case, a flag by its name, a
// struct as a list. The output is the row's action, the states around it, and the
// effects; or why the event was ignored.
//
//	steps
//	Onset turn=1
//	Silence turn=1
//	----
//
// takes several. The subject's invariants are watched all the way.
func Stories[S, E, F Value, G comparable](t *testing.T, sub Subject[S, E, F, G]) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	told := 0
	for _, path := range files {
		name := filepath.Base(path)
		if name == "diagram.txt" || name == "explored.txt" {
			continue
		}
		told++
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			teller := newTeller(sub)
			datadriven.RunTest(t, path, teller.tell)
		})
	}
	gomega.NewWithT(t).Expect(told).To(gomega.BeNumerically(">", 0), "testdata has no story")
}

type teller[S, E, F Value, G comparable] struct {
	sub   Subject[S, E, F, G]
	coord *machine.Coordinator[S, E, F]
	last  machine.Transition[S, E, F]
	seen  G
}

func newTeller[S, E, F Value, G comparable](sub Subject[S, E, F, G]) *teller[S, E, F, G] {
	out := &teller[S, E, F, G]{sub: sub, seen: sub.Seen}
	out.coord = machine.NewCoordinator(sub.Table, sub.First, func(tr machine.Transition[S, E, F]) { out.last = tr })
	return out
}

func (s *teller[S, E, F, G]) tell(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "step":
		return s.step(t, d, d.CmdArgs)
	case "steps":
		var b strings.Builder
		for line := range strings.Lines(d.Input) {
			name, args, err := datadriven.ParseLine(strings.TrimSpace(line))
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			b.WriteString(s.step(t, d, append([]datadriven.CmdArg{{Key: name}}, args...)))
		}
		return b.String()
	}
	d.Fatalf(t, "a story knows step and steps, not %s", d.Cmd)
	return ""
}

func (s *teller[S, E, F, G]) step(t *testing.T, d *datadriven.TestData, args []datadriven.CmdArg) string {
	if len(args) == 0 {
		d.Fatalf(t, "step wants an event")
	}
	fields := make([]Arg, len(args)-1)
	for i, a := range args[1:] {
		fields[i] = Arg{a.Key, a.Vals}
	}
	event, err := Parse(s.sub.Events, args[0].Key, fields)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	s.coord.Step(event)
	var broken string
	s.seen, broken = s.sub.Monitor.Watch(s.seen, machine.Edge[S, E, F]{
		From: s.last.From, Event: event, To: s.last.To, Effects: s.last.Effects,
	})
	if broken != "" {
		d.Fatalf(t, "%s does not hold", broken)
	}
	return Line(s.last)
}

// Line writes a transition as stories do.
func Line[S, E, F Value](tr machine.Transition[S, E, F]) string {
	if tr.Why != "" {
		return Text(tr.From) + " ignores " + tr.Event.Name() + ": " + tr.Why + "\n"
	}
	out := tr.Action + ": " + Text(tr.From) + " -> " + Text(tr.To) + "\n"
	for _, f := range tr.Effects {
		out += "  " + Text(f) + "\n"
	}
	return out
}
