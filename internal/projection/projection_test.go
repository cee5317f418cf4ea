package projection_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/internal/projection"
)

// effects has one of every type, by the machine.
var effects = map[string][]session.Effect{
	"conn": {
		conn.AnnounceSession{}, conn.StartVAD{}, conn.StopVAD{}, conn.ArmGrace{}, conn.StopChildren{}, conn.ReleaseTransport{}, conn.Forget{},
	},
	"turn": {
		turn.OpenCandidate{},
		turn.RejectCandidate{},
		turn.OpenTurn{},
		turn.BargeIn{},
		turn.EmitSpeechStarted{},
		turn.EmitSpeechStopped{},
		turn.EmitTimeout{},
		turn.ArmFallback{},
		turn.AskGate{},
		turn.CommitTurn{},
		turn.DiscardTurn{},
	},
	"response": {
		response.EmitCreated{},
		response.EmitTerminal{},
		response.StartBody{},
		response.CancelBody{},
		response.RejectActive{},
		response.RejectNotActive{},
	},
	"playout": {
		playout.Play{},
		playout.Hold{},
		playout.RewindAndResume{},
		playout.Drop{},
		playout.EmitStarted{},
		playout.EmitStopped{},
		playout.EmitCleared{},
		playout.Truncate{},
		playout.EmitRejected{},
		playout.AwaitReady{},
		playout.AwaitHeard{},
	},
	"transcription": {
		transcription.OpenStream{},
		transcription.CloseInput{},
		transcription.DecodeWhole{},
		transcription.CloseStream{},
		transcription.Degrade{},
		transcription.DeliverText{},
		transcription.DeliverFailure{},
	},
	"synthesis": {synthesis.Say{}, synthesis.Refuse{}, synthesis.CloseQueue{}, synthesis.StopWorker{}, synthesis.Wake{}},
}

// TestEveryEffectIsToldOrHasAReason walks over all effects that the machines' sources declare.
func TestEveryEffectIsToldOrHasAReason(t *testing.T) {
	for machine, list := range effects {
		g := gomega.NewWithT(t)
		var names []string
		for _, f := range list {
			names = append(names, f.Name())
			e, why := projection.Told(f, session.Config{})
			g.Expect((e == nil) != (why == "")).To(gomega.BeTrue(), "%s %s is told as %v, because %q", machine, f.Name(), e, why)
		}
		g.Expect(names).To(gomega.ConsistOf(declared(t, machine)), machine)
	}
}

// declared are the types of a machine that have the method effect.
func declared(t *testing.T, machine string) []any {
	t.Helper()
	folder := filepath.Join("..", "..", "coord", machine)
	packages, err := parser.ParseDir(token.NewFileSet(), folder, func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	var out []any
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			if f, is := n.(*ast.FuncDecl); is && f.Recv != nil && f.Name.Name == "effect" && f.Type.Params.NumFields() == 0 {
				out = append(out, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
			return true
		})
	}
	return out
}

func TestPauseIsNotTold(t *testing.T) {
	e, why := projection.Told(session.Pause{}, session.Config{})
	gomega.NewWithT(t).Expect(e).To(gomega.BeNil())
	gomega.NewWithT(t).Expect(why).NotTo(gomega.BeEmpty())
}

func TestWhoseEffectNobodyKnows(t *testing.T) {
	e, why := projection.Told(session.Configure{}, session.Config{})
	gomega.NewWithT(t).Expect(e).To(gomega.BeNil())
	gomega.NewWithT(t).Expect(why).To(gomega.BeEmpty())
}

// TestAgrees: while a session closes its client may lag behind in what it is not told of, and in nothing else.
func TestAgrees(t *testing.T) {
	g := gomega.NewWithT(t)
	s := session.New(session.Config{Interrupt: true})
	g.Expect(projection.Agrees(view.Closed{}, s)).To(gomega.BeTrue())
	s.Conn = conn.Live{}
	open := view.Open{Interrupts: true}
	g.Expect(projection.Agrees(open, s)).To(gomega.BeTrue())
	waits := view.Open{Interrupts: true, Waiting: 1}
	g.Expect(projection.Agrees(waits, s)).To(gomega.BeFalse())
	g.Expect(projection.Agrees(view.Closed{}, s)).To(gomega.BeFalse())
	s.Conn = conn.Closing{}
	g.Expect(projection.Agrees(open, s)).To(gomega.BeTrue())
	g.Expect(projection.Agrees(waits, s)).To(gomega.BeTrue())
	g.Expect(projection.Agrees(view.Closed{}, s)).To(gomega.BeTrue())
	g.Expect(projection.Agrees(view.Over{}, s)).To(gomega.BeFalse())
	g.Expect(projection.Agrees(view.Open{Interrupts: true, Live: 1}, s)).To(gomega.BeFalse())
	s.Conn = conn.Closed{}
	g.Expect(projection.Agrees(view.Over{}, s)).To(gomega.BeTrue())
	g.Expect(projection.Agrees(open, s)).To(gomega.BeFalse())
}
