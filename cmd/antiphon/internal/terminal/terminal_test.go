package terminal

// The terminal client's screen, and its handling of missing sound devices.

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

func TestTheScreenPrintsFinishedEntries(t *testing.T) {
	g := gomega.NewWithT(t)
	var out, note bytes.Buffer
	s := newScreen(Console{Out: &out, Err: &note})
	you := sdk.Entry{ItemID: "1", Role: sdk.User, Text: "stop", Spoken: true}
	answer := sdk.Entry{ItemID: "2", Role: sdk.Agent, Text: "One two three", Spoken: true}
	s.show(sdk.Snapshot{State: sdk.AgentSpeaking, Transcript: []sdk.Entry{you, answer}})
	g.Expect(out.String()).To(gomega.BeEmpty(), "it may be cut short")
	g.Expect(note.String()).To(gomega.Equal("you: stop\n"))
	answer.Text, answer.Interrupted = "One two", true
	s.show(sdk.Snapshot{State: sdk.Listening, Transcript: []sdk.Entry{you, answer}})
	s.show(sdk.Snapshot{State: sdk.Listening, Transcript: []sdk.Entry{you, answer}})
	g.Expect(out.String()).To(gomega.Equal("One two ...\n"), "once")
}

func TestControlCharactersAreRemoved(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(Clean("a\x1b[2Jb\nc\u009b1m\t\x07")).To(gomega.Equal("a[2Jb c1m"))
	g.Expect(Clean("pay \u202e001\u202c \u2066x\u2069 \u200ey\u061c \u2028z\U000E0041 שלום 👩\u200d🚀")).To(gomega.Equal("pay 001 x y  z שלום 👩\u200d🚀"))
	var out bytes.Buffer
	s := newScreen(Console{Out: &out, Err: &out, OutTerminal: true})
	s.show(sdk.Snapshot{State: sdk.Thinking, Transcript: []sdk.Entry{{ItemID: "1", Role: sdk.Agent, Text: "evil\x1b]0;title\x07", Live: true}}})
	g.Expect(out.String()).To(gomega.Equal("\r\x1b[2K[thinking: evil]0;title] "))
}

func TestMissingSoundDevices(t *testing.T) {
	g := gomega.NewWithT(t)
	var note bytes.Buffer
	t.Setenv("PULSE_SERVER", "unix:"+filepath.Join(t.TempDir(), "none"))
	s, err := openSound(Options{Microphone: "device", Speaker: "device"}, &note)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "writing works")
	g.Expect(note.String()).To(gomega.And(gomega.ContainSubstring("no microphone, so type"), gomega.ContainSubstring("no loudspeaker, so read")))
	g.Expect(s.source).To(gomega.BeNil())

	_, err = openSound(Options{Microphone: "nothing.wav", Speaker: "none"}, &note)
	g.Expect(err).To(gomega.MatchError(os.ErrNotExist), "what was named has to be there")
}

func TestIsTerminal(t *testing.T) {
	g := gomega.NewWithT(t)
	nothing, err := os.Open(os.DevNull)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer nothing.Close()
	g.Expect(isTerminal(nothing)).To(gomega.BeFalse())
}
