package main

// antiphon replay, with a logbook of a call that the test makes.

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

type memory struct{ bytes.Buffer }

// Close implements io.Closer.
func (*memory) Close() error { return nil }

func TestReplay(t *testing.T) {
	var book memory
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s, err := session.New(session.Config{Pipeline: scripted.New(scripted.Options{}), Settings: wire.DefaultSession(), Logbook: &logbook.Recording{
			Open: func(string) (io.WriteCloser, error) { return &book, nil },
		}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		s.Start(logbook.Link{}.Stand())
		s.Message([]byte(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 3 words"}]}}`), true)
		s.Message([]byte(`{"type":"response.create"}`), true)
		<-time.After(10 * time.Second)
		s.Close(conn.ByClient)
		<-s.Done()
	})
	for what, c := range map[string]struct {
		replay replay
		keys   string
		says   []string
		not    string
	}{
		"the whole":  {says: []string{"play as they were recorded: 10.000 s of a call of antiphon ", "the logbook ends because the session ended"}, not: "The model"},
		"a story":    {replay: replay{Story: true}, says: []string{"    0.000 s  The client sends response.create.\n", `The model writes for response 1: "`, "The server sends response.done."}},
		"until":      {replay: replay{Until: time.Second}, says: []string{"play as they were recorded, up to 0."}},
		"two steps":  {replay: replay{Step: true}, keys: "\n\n\n", says: []string{"             | conn Connecting: Opened", "4 entries play as they were recorded"}, not: "BodyOver"},
		"to the end": {replay: replay{Step: true}, keys: strings.Repeat("\n", 200), says: []string{"the logbook ends because"}},
	} {
		t.Run(what, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var out strings.Builder
			g.Expect(c.replay.play(bytes.NewReader(book.Bytes()), strings.NewReader(c.keys), &out)).To(gomega.Succeed())
			for _, said := range c.says {
				g.Expect(out.String()).To(gomega.ContainSubstring(said))
			}
			if c.not != "" {
				g.Expect(out.String()).NotTo(gomega.ContainSubstring(c.not))
			}
		})
	}
	g := gomega.NewWithT(t)
	cut := bytes.NewReader(book.Bytes()[:book.Len()-20])
	g.Expect((&replay{}).play(cut, nil, io.Discard)).To(gomega.MatchError(gomega.MatchRegexp(`^\d+ entries were played: the logbook is cut off after \d+ entries`)))
	g.Expect((&replay{}).play(strings.NewReader("words"), nil, io.Discard)).To(gomega.MatchError("this is no logbook: it is not in gzip"))
}
