package session

// Every session of this package's tests is recorded and played again.

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// memoryBook is a logbook in memory.
type memoryBook struct{ bytes.Buffer }

// Close implements io.Closer.
func (*memoryBook) Close() error { return nil }

func (p *memoryBook) recording() *logbook.Recording {
	to := &logbook.Recording{Open: func(string) (io.WriteCloser, error) { return p, nil }}
	_, _ = rand.Read(to.Seed[:]) // never fails
	return to
}

// check plays the logbook: it has the same transitions and events.
func (p *memoryBook) check(t *testing.T) {
	t.Helper()
	played, err := Replay(bytes.NewReader(p.Bytes()), func(logbook.Moment) error { return nil })
	if err != nil {
		t.Errorf("the logbook does not play as it was recorded: %v", err)
	}
	if played.End != logbook.Over {
		t.Errorf("the logbook ends after %d entries: %q", played.Entries, played.End)
	}
}

// doctored returns the logbook with one text in place of another.
func (p *memoryBook) doctored(g *gomega.WithT, old, by string) io.Reader {
	zip, err := gzip.NewReader(bytes.NewReader(p.Bytes()))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	text, err := io.ReadAll(zip)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(strings.Contains(string(text), old)).To(gomega.BeTrue(), old)
	var b bytes.Buffer
	out := gzip.NewWriter(&b)
	_, _ = io.WriteString(out, strings.Replace(string(text), old, by, 1)) // a buffer takes all
	_ = out.Close()
	return &b
}

func TestADoctoredLogbookNamesTheFirstDifference(t *testing.T) {
	story(t, "a barge-in with other words, times, machines and events", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		c.speak(scripted.Tones("stop it now"))
		c.quiet(900)
		first(c, "conversation.item.truncated")
		c.ask("say 2 words")
		first(c, "output_audio_buffer.stopped")
		c.s.Close(1)
		<-c.s.Done()
		book := &c.logbook
		for what, d := range map[string][3]string{
			"a word of the model":   {`{"Text":"One `, `{"Text":"Won `, `"delta":"Won `},
			"an event that is sent": {`\"session.created\"`, `\"session.creeted\"`, `session.creeted`},
			"a question":            {`"sent `, `"held `, "in the logbook: asks for held\n  played:         asks for sent"},
			"speech":                {`speech 1`, `speech 0`, "\n  played:         "},
			"a tool nobody called":  {`{"speaking.BodyOver":{"ID":1}}`, `{"speaking.ToolEnded":{"Run":7}}`, "played:         panics: "},
		} {
			_, err := Replay(book.doctored(c.g, d[0], d[1]), func(logbook.Moment) error { return nil })
			c.g.Expect(err).To(gomega.MatchError(gomega.And(gomega.HavePrefix("entry "), gomega.ContainSubstring(d[2]))), what)
		}
		var told strings.Builder
		_, err := Replay(bytes.NewReader(book.Bytes()), func(m logbook.Moment) error {
			told.WriteString(m.Story())
			return nil
		})
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, said := range []string{
			"The client sends response.create.", `The model writes for response 1: "`, "The machine playout takes Begin and goes from Silent to Playing.",
			"The first frame of the response goes out.", `The recogniser has a partial result of turn 1: "stop`, "The server sends conversation.item.truncated.",
		} {
			c.g.Expect(told.String()).To(gomega.ContainSubstring(said))
		}
	})
}

// A session that panics panics again.
func TestAPanicIsPlayedAgain(t *testing.T) {
	story(t, "in the middle of an event", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var book memoryBook
		s, err := New(Config{Pipeline: plain(), Settings: wire.DefaultSession(), Logbook: book.recording()})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		s.Start(logbook.Link{Paced: true}.Stand())
		s.post(bodyEvent{speaking.ToolEnded{Run: 7}})
		<-s.Done()
		var did []string
		played, err := Replay(&book, func(m logbook.Moment) error {
			did = m.Did
			return nil
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(did).To(gomega.ContainElement(gomega.HavePrefix("panics: ")))
		g.Expect(played.End).To(gomega.Equal(logbook.Over))
	})
}

// BenchmarkLogbook measures 20 ms of the user's audio in a session that is not recorded, that is recorded, and whose logbook has the sound.
func BenchmarkLogbook(b *testing.B) {
	for _, kind := range []string{"none", "recorded", "with sound"} {
		b.Run(kind, func(b *testing.B) {
			cfg := Config{Pipeline: plain(), Settings: wire.DefaultSession()}
			if kind != "none" {
				cfg.Logbook = new(memoryBook).recording()
				cfg.Logbook.Sound = kind == "with sound"
			}
			s, err := New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			s.attach(logbook.Link{Paced: true}.Stand())
			s.begin()
			s.take(<-s.shared.queue.events)
			pcm := scripted.Tones("stop it now")[:480]
			for b.Loop() {
				s.take(audioReceived{&pcm})
			}
			s.release()
			s.deck.Close()
		})
	}
}
