package session

// The stories of the composition (testdata/*.txt).

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// TestStories tells the stories of testdata, one a file. A story knows three commands:
//
//	step turn Silence turn=1
//	----
//	turn Commit: Speaking turn=1 -> Idle
//	  EmitSpeechStopped turn=1
//
// takes one event of a machine; the output is each machine's step and then every effect, in the order in which they are
// performed.
//
//	steps
//	configure interrupt create_response
//	conn Opened vad
//	at item=1 ms=900
//	----
//
// takes several; `given` takes them too and says nothing. `configure` changes the settings, `at` says how far the response has got. A
// session starts with neither setting. The invariants are watched all the way.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		if slices.Contains([]string{"diagram", "faults", "mutants"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(Config{}, nil)
			datadriven.RunTest(t, path, w.tell)
		})
	}
}

func (w *world) tell(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd == "step" {
		return w.step(t, d, d.CmdArgs)
	}
	var b strings.Builder
	for line := range strings.Lines(d.Input) {
		name, args, err := datadriven.ParseLine(strings.TrimSpace(line))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		b.WriteString(w.step(t, d, append([]datadriven.CmdArg{{Key: name}}, args...)))
	}
	if d.Cmd == "given" {
		return ""
	}
	return b.String()
}

func (w *world) step(t *testing.T, d *datadriven.TestData, args []datadriven.CmdArg) string {
	if args[0].Key == "at" {
		w.at = playout.Position{}
		d.CmdArgs = args[1:]
		d.ScanArgs(t, "item", &w.at.Item)
		d.ScanArgs(t, "ms", &w.at.MS)
		return ""
	}
	e, err := parseEvent(args)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	from := w.s
	if broken := w.take(e); broken != "" {
		d.Fatalf(t, "%s", broken)
	}
	_, effects, steps := Next(from, w.at, e)
	return tale(effects, steps)
}

// tale is what an event led to.
func tale(effects []Effect, steps []Step) string {
	var b strings.Builder
	for _, st := range steps {
		b.WriteString(st.Machine + " ")
		if st.Why != "" {
			b.WriteString(coordtest.Text(st.From) + " ignores " + st.Event.Name() + ": " + st.Why + "\n")
			continue
		}
		b.WriteString(st.Action + ": " + coordtest.Text(st.From) + " -> " + coordtest.Text(st.To) + "\n")
	}
	for _, f := range effects {
		b.WriteString("  " + coordtest.Text(f) + "\n")
	}
	return b.String()
}

// events has one of each machine's events.
func events(name string) []machine.Named {
	switch name {
	case "conn":
		return []machine.Named{conn.Opened{}, conn.SetVAD{}, conn.Lost{}, conn.Restored{}, conn.GraceExpired{}, conn.Close{}}
	case "turn":
		return []machine.Named{
			turn.Onset{},
			turn.ClientCandidate{},
			turn.Sustained{},
			turn.Misfire{},
			turn.Silence{},
			turn.EndOfUtterance{},
			turn.VoiceResumed{},
			turn.FallbackExpired{},
			turn.GatePassed{},
			turn.GateRefused{},
			turn.Commit{},
			turn.Clear{},
			turn.NoSpeech{},
			turn.IdleTimeout{},
		}
	case "response":
		return []machine.Named{response.Create{}, response.Cancel{}, response.BodyEnded{}}
	case "playout":
		return []machine.Named{
			playout.Begin{},
			playout.Drained{},
			playout.Clear{},
			playout.Ready{},
			playout.ReadyExpired{},
			playout.Heard{},
			playout.HeardExpired{},
			playout.Missed{},
		}
	case "synthesis":
		return []machine.Named{synthesis.Enqueue{}, synthesis.Finish{}, synthesis.WorkerExited{}}
	case "transcription":
		return []machine.Named{
			transcription.Ready{}, transcription.Refuse{}, transcription.EOU{}, transcription.Resumed{}, transcription.Done{}, transcription.Failed{},
		}
	}
	return nil
}

// parseEvent reads what eventText writes.
func parseEvent(args []datadriven.CmdArg) (Event, error) {
	if args[0].Key == "configure" {
		var c Config
		for _, a := range args[1:] {
			switch a.Key {
			case "interrupt":
				c.Interrupt = true
			case "create_response":
				c.CreateResponse = true
			case "reports":
				c.Reports = true
			default:
				return nil, fmt.Errorf("there is no setting %q", a.Key)
			}
		}
		return Configure{c}, nil
	}
	known := events(args[0].Key)
	if known == nil || len(args) < 2 {
		return nil, fmt.Errorf("%q: a step names a machine and an event", args[0].Key)
	}
	fields := make([]coordtest.Arg, 0, len(args))
	for _, a := range args[2:] {
		fields = append(fields, coordtest.Arg{Key: a.Key, Vals: a.Vals})
	}
	e, err := coordtest.Parse(known, args[1].Key, fields)
	if err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case conn.Event:
		return OfConn{e}, nil
	case turn.Event:
		return OfTurn{e}, nil
	case response.Event:
		return OfResponse{e}, nil
	case playout.Event:
		return OfPlayout{e}, nil
	case synthesis.Event:
		return OfSynthesis{e}, nil
	case transcription.Event:
		return OfTranscription{e}, nil
	}
	return nil, fmt.Errorf("%s: not an event", args[1].Key)
}

// eventText writes an event as stories do.
func eventText(e Event) string {
	switch e := e.(type) {
	case OfConn:
		return "conn " + coordtest.Text(e.Event)
	case OfTurn:
		return "turn " + coordtest.Text(e.Event)
	case OfResponse:
		return "response " + coordtest.Text(e.Event)
	case OfPlayout:
		return "playout " + coordtest.Text(e.Event)
	case OfSynthesis:
		return "synthesis " + coordtest.Text(e.Event)
	case OfTranscription:
		return "transcription " + coordtest.Text(e.Event)
	case Configure:
		out := "configure"
		if e.Config.Interrupt {
			out += " interrupt"
		}
		if e.Config.CreateResponse {
			out += " create_response"
		}
		if e.Config.Reports {
			out += " reports"
		}
		return out
	}
	return ""
}
