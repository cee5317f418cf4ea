package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const lamp = `package lamp

// State is one of Off,
// On.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	Off struct{}
	On  struct{}
)

func (On) Name() string { return "lit" }

// Event is what comes.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

// Told is what others say: one of Switched.
//
//sumtype:decl
type Told interface {
	Event
	told()
}

type Switched struct{}

// Effect is one of Shine. It may hurt.
//
//sumtype:decl
type Effect interface{ effect() }

type Shine struct{}
`

func TestAMachineGetsTheMethodsOfItsTypes(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "lamp.go"), []byte(lamp), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(Succeed())
	out, err := os.ReadFile(filepath.Join(folder, output))
	g.Expect(err).NotTo(HaveOccurred())
	for _, line := range []string{
		`func (Off) Name() string { return "Off" }`, "func (Off) state()", "func (On) state()", "func (Switched) event()", "func (Switched) told()",
		"func (Shine) effect()", "return []State{Off{}, On{}},", "[]Event{Switched{}},", "[]Effect{Shine{}}", "func on[",
	} {
		g.Expect(string(out)).To(ContainSubstring(line))
	}
	g.Expect(string(out)).NotTo(ContainSubstring("(On) Name"), "the package has it")
	g.Expect(string(out)).NotTo(ContainSubstring("(Shine) Name"), "an effect has none here")
}

func TestAMemberThatIsNoTypeIsAnError(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	wrong := strings.Replace(lamp, "one of Shine", "one of Shine, Glow", 1)
	g.Expect(os.WriteFile(filepath.Join(folder, "lamp.go"), []byte(wrong), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(MatchError(ContainSubstring("Glow, which is no type of package lamp")))
}

func TestAPackageThatIsNoMachineGetsNothing(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "a.go"), []byte("package a\n\ntype State struct{}\n"), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(Succeed())
	g.Expect(filepath.Join(folder, output)).NotTo(BeAnExistingFile())
}

const watched = `// Package lamp is a lamp.
//
// # Invariants
//
//   - LitOnce: it is lit once.
//     It is dark before.
//   - OKIsKept: it is well.
//
// # Contract
//
//   - Nothing: nothing.
` + lamp + `
type Seen struct{}

func okIsKept(_, after Seen, step edge) bool { return true }

func litOnce(before, _ Seen, _ edge) bool { return true }

func other(before, _ Seen) bool { return true }
`

func TestAMachineGetsTheMonitorThatItsCommentLists(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "lamp.go")
	g.Expect(os.WriteFile(file, []byte(watched), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(Succeed())
	out, err := os.ReadFile(filepath.Join(folder, output))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(ContainSubstring("\t\t{Name: \"LitOnce\", Holds: litOnce},\n\t\t{Name: \"OKIsKept\", Holds: okIsKept},\n\t},\n"))
	g.Expect(string(out)).To(ContainSubstring("See: machine.See[State, Event, Effect, Seen],"))

	g.Expect(os.WriteFile(file, []byte(watched+"\nfunc see(g Seen, _ edge) Seen { return g }\n"), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(Succeed())
	out, err = os.ReadFile(filepath.Join(folder, output))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(ContainSubstring("See: see,"))

	g.Expect(os.WriteFile(file, []byte(strings.Replace(watched, "LitOnce:", "LitTwice:", 1)), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(MatchError(ContainSubstring("lists the invariant LitTwice, and no function has its name")))

	g.Expect(os.WriteFile(file, []byte(strings.Replace(watched, "//   - OKIsKept: it is well.\n", "", 1)), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(MatchError(ContainSubstring("does not list the invariants okIsKept")))
}

const fielded = `package lamp

// State is one of Off, On, Dim.
//
//machine:field levelOf Level returns how bright x is, or 0.
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	Off struct{}
	On  struct{ Level uint8 }
	Dim On
)

// Event is one of Switched.
//
//sumtype:decl
type Event interface{ event() }

type Switched struct{}

type Effect interface{}
`

func TestAMachineGetsTheFunctionsForItsFields(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "lamp.go")
	g.Expect(os.WriteFile(file, []byte(fielded), 0o600)).To(Succeed())
	g.Expect(generate(folder)).To(Succeed())
	out, err := os.ReadFile(filepath.Join(folder, output))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(ContainSubstring(`// levelOf returns how bright x is, or 0.
func levelOf(x State) (none uint8) {
	switch x := x.(type) {
	case On:
		return x.Level
	case Dim:
		return x.Level
	}
	return none
}`))
	for _, wrong := range []string{"levelOf Colour returns it.", "levelOf Level", "levelOf"} {
		text := strings.Replace(fielded, "levelOf Level returns how bright x is, or 0.", wrong, 1)
		g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		g.Expect(generate(folder)).To(MatchError(ContainSubstring("want the name of the function, a field that a member has, and a comment")), wrong)
	}
}
