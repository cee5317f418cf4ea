package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a story waits for what must happen, on the clock of its bubble.
const patience = 2 * time.Minute

// story runs a test in a bubble, on a clock of its own.
func story(t *testing.T, name string, tell func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, tell) })
}

// caller is a client on the other side of a link that the test holds, and that link.
type caller struct {
	t *testing.T
	g *gomega.WithT
	s *Session

	mu      sync.Mutex
	events  []wire.ServerEvent
	read    int   // what first has passed
	fails   error // of Send
	arrived chan struct{}
	sent    chan func()    // of the events that are on their way
	over    sync.WaitGroup // the goroutine that calls them
	pacer   *pacer         // nil for a client that plays by itself
}

// byWebRTC places a call whose audio is paced by the server.
func byWebRTC(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	c := newCaller(t, p)
	c.pacer = newPacer(c.s)
	return c.start()
}

// byWebSocket places a call whose client plays by itself.
func byWebSocket(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	return newCaller(t, p).start()
}

func newCaller(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := New(Config{Pipeline: p, Settings: wire.DefaultSession()})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := &caller{t: t, g: g, s: s, arrived: make(chan struct{}, 1), sent: make(chan func(), 10_000)}
	c.over.Go(func() {
		for sent := range c.sent {
			sent()
		}
	})
	return c
}

func (c *caller) start() *caller {
	c.t.Helper()
	c.s.Start(c)
	c.t.Cleanup(func() {
		select {
		case <-c.s.Done():
			return
		case <-time.After(patience): // it comes to rest
		}
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		c.g.Expect(c.s.replies).To(gomega.BeEmpty(), "a reply is left")
		c.g.Expect(c.s.turns).To(gomega.BeEmpty(), "a turn is left")
	})
	first(c, "session.created")
	return c
}

func plain() *pipeline.Pipeline { return scripted.New(scripted.Options{}) }

func byScript(t *testing.T, yaml string) *pipeline.Pipeline {
	t.Helper()
	s, err := scripted.Parse(t.Name(), []byte(yaml))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return scripted.New(scripted.Options{Script: s})
}

// Send implements Link.
func (c *caller) Send(text []byte, sent func()) error {
	e, err := wire.DecodeServer(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.t.Errorf("the session sent %.200s: %v", text, err)
		return nil
	}
	if c.fails != nil {
		return c.fails
	}
	c.events = append(c.events, e)
	if sent != nil {
		c.sent <- sent
	}
	select {
	case c.arrived <- struct{}{}:
	default:
	}
	return nil
}

// Speaker implements Link.
func (c *caller) Speaker() Speaker {
	if c.pacer == nil {
		return nil
	}
	return c.pacer
}

// Close implements Link.
func (c *caller) Close() error {
	if c.pacer != nil {
		c.pacer.close()
	}
	close(c.sent)
	c.over.Wait()
	return nil
}

func (c *caller) send(text string) { c.s.Message([]byte(text), true) }

// ask writes a text and wants an answer.
func (c *caller) ask(text string) {
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}`)
	c.send(`{"type":"response.create"}`)
}

// settle changes the session's settings.
func (c *caller) settle(session string) {
	c.t.Helper()
	c.send(`{"type":"session.update","session":{"type":"realtime",` + session + `}}`)
	first(c, "session.updated")
}

// speak sends audio as a microphone does: each piece when it was spoken.
func (c *caller) speak(pcm []int16) {
	for len(pcm) > 0 {
		n := min(len(pcm), 480)
		wait(20 * time.Millisecond)
		c.s.Audio(pcm[:n])
		pcm = pcm[n:]
	}
}

func (c *caller) quiet(ms int) { c.speak(make([]int16, ms*24)) }

// wait lets time pass in the bubble.
func wait(d time.Duration) { <-time.After(d) }

// first waits for the next event of that name after those that first has returned.
func first(c *caller, name string) wire.ServerEvent {
	c.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		if e := c.find(name); e != nil {
			return e
		}
		select {
		case <-c.arrived:
		case <-late.C:
			c.t.Fatalf("no %s after %s", name, strings.Join(c.names(), " "))
		}
	}
}

func (c *caller) find(name string) wire.ServerEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := c.read; i < len(c.events); i++ {
		if c.events[i].Type() == name {
			c.read = i + 1
			return c.events[i]
		}
	}
	return nil
}

// next is first with the event's type.
func next[E wire.ServerEvent](c *caller, name string) E {
	c.t.Helper()
	e, ok := first(c, name).(E)
	c.g.Expect(ok).To(gomega.BeTrue(), name)
	return e
}

// all are the events so far.
func (c *caller) all() []wire.ServerEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// names are the types of the events so far, without deltas.
func (c *caller) names() []string {
	var out []string
	for _, e := range c.all() {
		if !strings.HasSuffix(e.Type(), ".delta") {
			out = append(out, e.Type())
		}
	}
	return out
}

// since are the names after the newest event of that name.
func (c *caller) since(name string) []string {
	names := c.names()
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return names[i+1:]
		}
	}
	return nil
}

// count is how many events of that name have come.
func (c *caller) count(name string) int {
	n := 0
	for _, e := range c.names() {
		if e == name {
			n++
		}
	}
	return n
}

// pacer is a Speaker that keeps time as rtc's does: 20 ms of audio every 20 ms. It remembers what the ear got.
type pacer struct {
	s    *Session
	stop chan struct{}
	over sync.WaitGroup

	mu    sync.Mutex
	tape  []int16
	gen   uint64
	pos   int
	live  bool
	held  bool
	ended bool
	done  bool
	heard []int16 // everything that went out, without the silence
	cut   int     // how much of a reply had gone out when it was dropped
	again []int   // how much was said again at each Resume; less than nothing is what was skipped
	whole int     // how much had gone out when a reply was drained first
}

func newPacer(s *Session) *pacer {
	p := &pacer{s: s, stop: make(chan struct{})}
	p.over.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.tick()
			case <-p.stop:
				return
			}
		}
	})
	return p
}

func (p *pacer) tick() {
	p.mu.Lock()
	gen, drained := p.gen, false
	n := 0
	if p.live && !p.held {
		n = min(len(p.tape)-p.pos, 480)
		p.heard = append(p.heard, p.tape[p.pos:p.pos+n]...)
		p.pos += n
		drained = p.ended && !p.done && p.pos == len(p.tape)
		p.done = p.done || drained
		if drained && p.whole == 0 {
			p.whole = len(p.heard)
		}
	}
	pos := p.pos
	p.mu.Unlock()
	if n > 0 {
		p.s.Sent(gen, voice.Samples(pos), pos == n)
	}
	if drained {
		p.s.Drained(gen)
	}
}

func (p *pacer) close() {
	close(p.stop)
	p.over.Wait()
}

// Begin implements Speaker.
func (p *pacer) Begin(gen uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tape, p.gen, p.pos, p.live, p.held, p.ended, p.done = nil, gen, 0, true, false, false, false
}

// Write implements Speaker.
func (p *pacer) Write(pcm []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && !p.ended {
		p.tape = append(p.tape, pcm...)
	}
}

// End implements Speaker.
func (p *pacer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = p.live
}

// Hold implements Speaker.
func (p *pacer) Hold() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = p.live
	return voice.Samples(p.pos)
}

// Resume implements Speaker.
func (p *pacer) Resume(gen uint64, from voice.Samples) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.again = append(p.again, p.pos-int(from))
		p.pos = int(from)
		p.gen, p.held, p.done = gen, false, false
	}
}

// Drop implements Speaker.
func (p *pacer) Drop() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live, p.held, p.cut = false, false, p.pos
	return voice.Samples(p.pos)
}

// Sent implements Speaker.
func (p *pacer) Sent() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	return voice.Samples(p.pos)
}

// heardMS is how much went out, in milliseconds; cutMS is how much of a reply had, when it was dropped.
func (p *pacer) heardMS() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.heard) / 24
}

func (p *pacer) cutMS() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut / 24
}

// wholly checks that the ear got all of text, the first reply, once: what a hold stopped was gone on with where it had been, but for
// the frame that was on its way.
func (p *pacer) wholly(g *gomega.WithT, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := len(text) * 60 * 24
	for _, n := range p.again {
		g.Expect(n).To(gomega.And(gomega.BeNumerically(">=", 0), gomega.BeNumerically("<=", 480)))
		said += n
	}
	g.Expect(p.whole).To(gomega.Equal(said))
}

// words is what the ear got, read back from the tones.
func (p *pacer) words(g *gomega.WithT) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := scripted.Heard(p.heard)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return text
}

// ears understand words once they have heard so much of any sound.
type ears struct {
	words string
	after time.Duration
}

// hearing is a plain pipeline with those ears.
func (e ears) pipeline() *pipeline.Pipeline {
	p := plain()
	p.Transcriber = e
	return p
}

// Open implements pipeline.Transcriber.
func (e ears) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return &utterance{ears: e, results: make(chan pipeline.TranscriptResult, 2)}, nil
}

type utterance struct {
	ears
	results chan pipeline.TranscriptResult
	heard   int
	told    bool
}

// Write implements pipeline.Transcription.
func (u *utterance) Write(pcm []float32) error {
	if voice.RMS(pcm) > 0.01 {
		u.heard += len(pcm)
	}
	if !u.told && time.Duration(u.heard)*time.Second/pipeline.InputRate >= u.after {
		u.told = true
		u.results <- pipeline.TranscriptResult{Partial: u.words}
	}
	return nil
}

// CloseInput implements pipeline.Transcription.
func (u *utterance) CloseInput() error {
	u.results <- pipeline.TranscriptResult{Final: true, Text: u.words}
	return nil
}

// Results implements pipeline.Transcription.
func (u *utterance) Results() <-chan pipeline.TranscriptResult { return u.results }

// Close implements pipeline.Transcription.
func (u *utterance) Close() error { return nil }
