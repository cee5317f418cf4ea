package logbook

// The Deck: it records a session in a logbook, or plays a logbook to it. What comes from outside passes it: the events of the queue, and each answer that the session asks for
// without waiting.

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/version"
	"github.com/antiphon-rt/antiphon/wire"
)

// Deck records, or plays. It belongs to the session's goroutine but for the methods of env.Env. The methods that return nothing do nothing on nil.
type Deck struct {
	env.Env
	codec   *Codec
	sound   bool
	seed    [32]byte
	began   time.Time
	present atomic.Int64 // microseconds since began
	naming  sync.Mutex
	names   *rand.ChaCha8
	sides   map[*link.SidebandController]int
	numbers map[int]*link.SidebandController

	entry Entry // the present one, as far as it has come
	sends int   // how many events the present entry has sent
	file  *Writer
	plays *player // nil: the deck records
}

// Recording says where a session is recorded.
type Recording struct {
	// Open returns where the logbook of a session is written.
	Open func(session string) (io.WriteCloser, error)
	// Sound has the logbook keep all audio; otherwise it has only its length.
	Sound bool
	// Seed is random, and nobody else has it: the names of the session follow from it.
	Seed [32]byte
}

// Deck returns a Deck that records. codec knows the events of a session.
func (r *Recording) Deck(e env.Env, codec *Codec) *Deck {
	return &Deck{
		Env: e, codec: codec, sound: r.Sound, seed: r.Seed, began: e.Now().Truncate(time.Microsecond), names: rand.NewChaCha8(r.Seed),
		sides: map[*link.SidebandController]int{},
	}
}

// Plays reports whether the deck plays a logbook.
func (d *Deck) Plays() bool { return d != nil && d.plays != nil }

// Now implements env.Env. The time stands still while the session handles an event.
func (d *Deck) Now() time.Time {
	return d.began.Add(time.Duration(d.present.Load()) * time.Microsecond)
}

func (d *Deck) NewID(prefix string) string {
	d.naming.Lock()
	defer d.naming.Unlock()
	return env.NameFrom(d.names, prefix)
}

// --- the entry of an event

// Open opens the logbook of a session, ends the entry of its making, and begins that of its start. config is its configuration.
func (d *Deck) Open(r *Recording, session string, config any) error {
	text, err := d.codec.Append(nil, config, true)
	if err != nil {
		return err
	}
	out, err := r.Open(session)
	if err != nil {
		return err
	}
	d.file = NewWriter(out, d.Go)
	h := Header{Format: Format, Version: version.Version, Machines: map[string]string{}, Began: d.began, Seed: d.seed[:], Sound: d.sound, Config: text}
	for _, m := range coord.Machines() {
		h.Machines[m.Name] = m.Fingerprint
	}
	d.file.Write(&h)
	d.End()
	d.begin(json.RawMessage(`"start"`))
	return nil
}

func (d *Deck) begin(in json.RawMessage) {
	if d.plays == nil {
		d.present.Store(d.Env.Now().Sub(d.began).Microseconds())
	}
	d.entry, d.sends = Entry{At: d.present.Load(), In: in}, 0
}

// Took begins the entry of an event; in is its form in the logbook.
func (d *Deck) Took(in any) {
	text, err := d.codec.Append(nil, &in, d.sound)
	if err != nil {
		in = NotBooked{err.Error()}
		text, _ = d.codec.Append(nil, &in, false) // a text always encodes
	}
	d.begin(text)
}

// Did notes what the session has done.
func (d *Deck) Did(what string) {
	if d != nil {
		d.entry.Did = append(d.entry.Did, what)
	}
}

// Stepped notes a transition.
func (d *Deck) Stepped(st coord.Step) {
	if d == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s > %s", st.Machine, st.From.Name(), shownAs(st.Event), shownAs(st.To))
	for _, f := range st.Effects {
		b.WriteString(" + " + shownAs(f))
	}
	d.Did(b.String())
}

// shownAs returns a value of a machine with its name and its fields.
func shownAs(v interface{ Name() string }) string {
	text, _ := json.Marshal(v) // the values of machines always encode
	return v.Name() + string(text)
}

// audible is audio in the text of an event of the server.
var audible = regexp.MustCompile(`"(?:delta|audio)":"[A-Za-z0-9+/]+=*"`)

// Sent notes an event that the session has sent. One that is long is shortened and has a sum of the whole.
func (d *Deck) Sent(text []byte) {
	if d == nil {
		return
	}
	said := string(text)
	if !d.sound && (strings.Contains(said, `"audio":"`) || strings.Contains(said, `"response.output_audio.delta"`)) {
		said = audible.ReplaceAllStringFunc(said, func(audio string) string { return fmt.Sprintf("%s%d characters\"", audio[:9], len(audio)) })
	}
	d.Did("sends " + shortened(said))
}

// shortened returns a text, or its beginning with its length and a sum of it.
func shortened(text string) string {
	if len(text) <= 2048 {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes, %.8x)", strings.ToValidUTF8(text[:256], ""), len(text), sha256.Sum256([]byte(text)))
}

// End ends the entry.
func (d *Deck) End() {
	if d != nil && d.file != nil {
		d.file.Write(&d.entry)
	}
}

// Close ends the logbook.
func (d *Deck) Close() {
	if d != nil && d.file != nil {
		d.file.Close()
	}
}

// --- answers

// Ask returns an answer from outside: of own, which is recorded, or of the logbook.
func Ask[T any](d *Deck, what string, own func() T) (answer T) {
	if d.plays != nil {
		if text, ok := d.plays.answer(what); ok {
			if err := d.codec.Decode([]byte(text), &answer); err != nil {
				d.plays.differ("an answer that this version cannot read: "+err.Error(), "asks for "+what)
			}
		}
		return answer
	}
	answer = own()
	if text, err := d.codec.Append(append([]byte(what), ' '), &answer, d.sound); err == nil {
		d.entry.Answers = append(d.entry.Answers, string(text))
	}
	return answer
}

// Frame implements listening.Judgements. The frames that follow each other are one answer, with a digit for each.
func (d *Deck) Frame(is listening.Judgement) listening.Judgement {
	if d.plays != nil {
		return d.plays.frame()
	}
	bit := string('0' + rune(is&7))
	if n := len(d.entry.Answers); n > 0 && strings.HasPrefix(d.entry.Answers[n-1], speechAnswer) {
		d.entry.Answers[n-1] += bit
	} else {
		d.entry.Answers = append(d.entry.Answers, speechAnswer+bit)
	}
	return is
}

// --- messages

// Message returns a message as it is in the logbook. Without sound, audio in it is silence.
func (d *Deck) Message(from *link.SidebandController, text []byte) Message {
	m := Message{Text: text}
	if from != nil {
		if d.sides[from] == 0 {
			d.sides[from] = len(d.sides) + 1
		}
		m.From, m.Rules = d.sides[from], from.Rules
	}
	if d.sound || !strings.Contains(string(text), `"audio"`) {
		return m
	}
	e, _ := wire.DecodeClient(text) // one that cannot be read has no audio for the session
	switch e := e.(type) {
	case *wire.InputAudioBufferAppend:
		clear(e.Audio)
	case *wire.ConversationItemCreate:
		silence([]wire.Item{e.Item})
	case *wire.ResponseCreate:
		silence(e.Response.Input)
	default:
		return m
	}
	m.Text = wire.AppendClient(nil, e)
	return m
}

func silence(items []wire.Item) {
	for _, it := range items {
		for _, p := range it.Content {
			clear(p.Audio)
		}
	}
}

// Side returns the stand-in of the side-band controller that has sent a message; nil for the client.
func (d *Deck) Side(m Message) *link.SidebandController {
	if m.From == 0 {
		return nil
	}
	c := d.numbers[m.From]
	if c == nil {
		c = &link.SidebandController{Rules: m.Rules, Answer: func(link.Event) {}, Tab: new(link.EventTab)}
		d.numbers[m.From] = c
	}
	return c
}
