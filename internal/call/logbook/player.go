package logbook

// Playing a logbook, entry by entry.

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/version"
)

// Moment is one entry of a logbook that was played.
type Moment struct {
	Number int
	At     time.Duration
	In     any      // what came; nil for the making and the start of the session
	Did    []string // what the session did: its transitions, and the events that it sent
}

// Difference is where a logbook and the session that plays it differ first.
type Difference struct {
	Number    int // of the entry
	At        time.Duration
	Want, Got string // of the logbook, and of the session
}

// Error implements error.
func (d *Difference) Error() string {
	return fmt.Sprintf("entry %d at %.3f s differs\n  in the logbook: %s\n  played:         %s", d.Number, d.At.Seconds(), d.Want, d.Got)
}

// Played is what was played.
type Played struct {
	Header  Header
	Entries int
	Lasted  time.Duration
	Notes   []string // what may play in another way than it was recorded
	End     string   // why the logbook ends; "" if it was not played to its end
}

// ErrStop stops a play.
var ErrStop = errors.New("stopped")

// maxAudio is the most audio that is played, in samples: 4 hours.
const maxAudio = 4 * 3600 * 24000

// player is the part of a Deck that plays.
type player struct {
	in     *Reader
	deck   *Deck
	want   Entry
	n      int
	at     int // the next answer
	bit    int // the next bit of it
	failed *Difference
	after  int  // what the session had done before that
	quiet  bool // the logbook is over
	audio  int  // samples of all audio so far
}

// still is an env.Env whose timers never fire: those that fired are in the logbook.
type still struct{ env.Env }

func (still) AfterFunc(time.Duration, func()) env.Timer { return still{} }

// Stop implements env.Timer.
func (still) Stop() bool { return true }

// Play returns a Deck that plays a logbook, and reads the configuration of the session.
func Play(in io.Reader, codec *Codec, config any) (*Deck, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	h := &r.Header
	if err = codec.Decode(h.Config, config); err == nil && len(h.Seed) != 32 {
		err = errors.New("its seed has not 32 bytes")
	}
	if err != nil {
		return nil, fmt.Errorf("the configuration in the logbook, of antiphon %.40s, cannot be played by this version: %w", h.Version, err)
	}
	d := &Deck{
		Env: still{env.System()}, codec: codec, sound: h.Sound, began: h.Began, names: rand.NewChaCha8([32]byte(h.Seed)), numbers: map[int]*link.SidebandController{},
	}
	d.plays = &player{in: r, deck: d}
	return d, nil
}

// Begun returns what is known before the first entry is played.
func (d *Deck) Begun() Played {
	h := d.plays.in.Header
	p := Played{Header: h}
	if h.Version != version.Version {
		p.Notes = append(p.Notes, fmt.Sprintf("the logbook is of antiphon %.40s, and this is %s", h.Version, version.Version))
	}
	for _, m := range coord.Machines() {
		if h.Machines[m.Name] != m.Fingerprint {
			p.Notes = append(p.Notes, "the table of the machine "+m.Name+" is another one in this version: its transitions may differ")
		}
	}
	return p
}

// Next plays the next entry: play has the session do what it did, and gets what came. end says why the logbook has no further entry.
func (d *Deck) Next(play func(n int, in any)) (m Moment, end string, err error) {
	p := d.plays
	if p.want, err = p.in.Next(); err != nil || p.want.End != "" {
		return m, p.want.End, err
	}
	p.n++
	m.Number, m.At = p.n, time.Duration(p.want.At)*time.Microsecond
	d.present.Store(p.want.At)
	d.begin(nil)
	p.at, p.bit = 0, 0
	if p.n > 2 {
		err = d.codec.Decode(p.want.In, &m.In)
		if v, is := m.In.(NotBooked); is {
			err = errors.New(v.Why)
		}
		if p.audio += samples(m.In); p.audio > maxAudio {
			err = fmt.Errorf("more than %d hours of audio", maxAudio/3600/24000)
		}
		if err != nil {
			return m, "", fmt.Errorf("entry %d at %.3f s cannot be played: %w", p.n, m.At.Seconds(), err)
		}
	}
	d.guarded(func() { play(p.n, m.In) })
	m.Did = d.entry.Did
	p.compare(m.Did)
	if p.failed != nil {
		p.failed.Number, p.failed.At = p.n, m.At
		return m, "", p.failed
	}
	return m, "", nil
}

// guarded plays. A panic is part of what the session did.
func (d *Deck) guarded(play func()) {
	defer func() {
		if v := recover(); v != nil {
			d.Did(Panics(v))
			d.plays.quiet = true
		}
	}()
	play()
}

// Panics says that the session's code has panicked.
func Panics(v any) string { return fmt.Sprint("panics: ", v) }

// Leave ends what the session has left, as far as that goes. The logbook does not answer any more.
func (d *Deck) Leave(end func()) {
	d.plays.quiet = true
	d.guarded(end)
}

const speechAnswer = "speech "

// pass goes on from an answer about speech of which every frame has come.
func (p *player) pass() {
	if p.bit > 0 && len(speechAnswer)+p.bit == len(p.want.Answers[p.at]) {
		p.at, p.bit = p.at+1, 0
	}
}

// answer returns the next answer of the logbook, which is to what.
func (p *player) answer(what string) (text string, ok bool) {
	if p.quiet || p.failed != nil {
		return "", false
	}
	p.pass()
	if !p.has(what) {
		p.differ(p.asked(), "asks for "+what)
		return "", false
	}
	p.at++
	return strings.TrimPrefix(p.want.Answers[p.at-1], what+" "), true
}

// has reports whether the next answer is to what.
func (p *player) has(what string) bool {
	return p.at < len(p.want.Answers) && strings.HasPrefix(p.want.Answers[p.at], what+" ")
}

// asked returns what the session asked for next.
func (p *player) asked() string {
	if p.at >= len(p.want.Answers) {
		return "asks for nothing more"
	}
	what, _, _ := strings.Cut(p.want.Answers[p.at], " ")
	return "asks for " + what
}

// frame returns what the next frame is.
func (p *player) frame() listening.Judgement {
	if p.quiet || p.failed != nil {
		return 0
	}
	p.pass()
	if !p.has("speech") || len(p.want.Answers[p.at]) == len(speechAnswer) {
		p.differ(p.asked(), "asks for speech")
		return 0
	}
	p.bit++
	return listening.Judgement(p.want.Answers[p.at][len(speechAnswer)+p.bit-1]-'0') & 7
}

func (p *player) differ(want, got string) {
	if p.failed == nil {
		p.failed, p.after = &Difference{Want: shortened(want), Got: shortened(got)}, len(p.deck.entry.Did)
	}
}

// compare compares what the session did with the logbook.
func (p *player) compare(did []string) {
	p.pass()
	const nothing = "does nothing more"
	if p.failed != nil { // what the session did then follows from that
		did, p.want.Did = did[:p.after], p.want.Did[:min(p.after, len(p.want.Did))]
	}
	for i := range max(len(did), len(p.want.Did)) {
		want, got := nothing, nothing
		if i < len(p.want.Did) {
			want = p.want.Did[i]
		}
		if i < len(did) {
			got = did[i]
		}
		if want != got {
			p.failed = nil
			p.differ(want, got)
			return
		}
	}
	if p.at < len(p.want.Answers) {
		p.differ(p.asked(), "asks for nothing more")
	}
}
