package console

// The book of the calls, and its limits.

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Limits of what is kept.
const (
	maxBytes  = 32 << 20 // of all calls
	maxEnded  = 200      // calls
	maxSteps  = 300      // of a call; the other limits are those of a call, too
	maxTurns  = 60
	maxLines  = 200
	maxErrors = 40
	maxNames  = 24 // machines
	maxText   = 8 << 10
	maxPieces = 200 // of a line
	callSize  = 1 << 10
	partSize  = 200 // of a step, a turn, a line or an error, without its texts
	pieceSize = 32
)

// Call is one session of a call, without its parts.
type Call struct {
	Session   string     `json:"session"`
	Call      string     `json:"call"`
	Key       string     `json:"key,omitempty"` // the name of the API key
	Transport string     `json:"transport"`
	Since     time.Time  `json:"since"`
	Ended     *time.Time `json:"ended,omitempty"`
	Reason    string     `json:"reason,omitempty"` // why it ended
	Machines  []Machine  `json:"machines"`
	Answered  int        `json:"answered"`   // turns
	Latency   int        `json:"latency_ms"` // of the newest turn, from the end of speech to the first sound; -1 for none
	Failed    int        `json:"failed"`     // errors
}

// Machine is the present state of a machine.
type Machine struct {
	Name  string    `json:"name"`
	State string    `json:"state"`
	Since time.Time `json:"since"`
}

// Step is a transition of a machine. N counts the steps of the call.
type Step struct {
	N       int       `json:"n"`
	At      time.Time `json:"at"`
	Machine string    `json:"machine"`
	From    string    `json:"from"`
	Event   string    `json:"event"`
	Action  string    `json:"action"`
	To      string    `json:"to"`
	Effects []string  `json:"effects,omitempty"`
}

// Turn has the times of an answered turn, in milliseconds since the end of the user's speech; -1 for a moment that has not come.
type Turn struct {
	At          time.Time `json:"at"`
	Commit      int       `json:"commit"`
	Transcript  int       `json:"transcript"`
	FirstToken  int       `json:"first_token"`
	FirstAudio  int       `json:"first_audio"`
	FirstPacket int       `json:"first_packet"`
	PlaybackEnd int       `json:"playback_end"`
	Ahead       int       `json:"ahead"` // how long before its response the answer was begun
}

// Line is what one side has said, as far as the other has heard it.
type Line struct {
	item   string
	Who    string `json:"who"` // "user" or "agent"
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"` // the user has not heard all of the item
	pieces []piece
}

// piece says which audio of an item speaks which of its characters, in milliseconds.
type piece struct{ from, to, first, characters int }

// Fault is an error that the client was told.
type Fault struct {
	At      time.Time `json:"at"`
	Code    string    `json:"code"`
	Message string    `json:"message,omitempty"` // it may have words of the client
}

// call is a Call with its parts.
type call struct {
	Call
	changed uint64
	steps   []Step
	n       int // of the newest step
	turns   []Turn
	lines   []Line
	faults  []Fault
}

// size returns about how much memory the call takes.
func (c *call) size() int {
	n := callSize + partSize*(len(c.steps)+len(c.turns)+len(c.lines)+len(c.faults))
	for i := range c.lines {
		n += len(c.lines[i].Text) + pieceSize*len(c.lines[i].pieces)
	}
	return n
}

// book has the calls. Its owner locks it.
type book struct {
	calls   map[string]*call // by session
	version uint64           // grows with each change
	members uint64           // the version at which a call came or went
}

// change returns a call that a note is about, and marks it as changed; nil if the call is not in the book.
func (b *book) change(session string) *call {
	c := b.calls[session]
	if c != nil {
		b.version++
		c.changed = b.version
	}
	return c
}

// last appends one to a list, which keeps the newest.
func last[T any](all []T, one T, most int) []T {
	if len(all) >= most {
		all = slices.Delete(all, 0, len(all)-most+1)
	}
	return append(all, one)
}

func (b *book) begin(c Call) {
	b.version++
	b.members = b.version
	c.Machines, c.Latency = []Machine{}, -1
	b.calls[c.Session] = &call{Call: c, changed: b.version}
}

func (b *book) end(session string, at time.Time) {
	if c := b.change(session); c != nil {
		c.Ended, b.members = &at, b.version
		b.shrink()
	}
}

// step notes a transition, and the reason if it ends the call.
func (b *book) step(session string, s Step, reason string) {
	c := b.change(session)
	if c == nil {
		return
	}
	c.n++
	s.N = c.n
	c.steps = last(c.steps, s, maxSteps)
	c.Reason = cmp.Or(c.Reason, reason)
	i := slices.IndexFunc(c.Machines, func(m Machine) bool { return m.Name == s.Machine })
	switch {
	case i < 0 && len(c.Machines) < maxNames:
		c.Machines = append(c.Machines, Machine{s.Machine, s.To, s.At})
	case i >= 0 && (c.Machines[i].State != s.To):
		c.Machines[i] = Machine{s.Machine, s.To, s.At}
	}
}

func (b *book) turn(session string, t Turn) {
	if c := b.change(session); c != nil {
		c.turns = last(c.turns, t, maxTurns)
		c.Answered++
		c.Latency = max(t.FirstPacket, t.FirstAudio, t.FirstToken)
	}
}

func (b *book) fault(session string, f Fault) {
	if c := b.change(session); c != nil {
		f.Message = short(f.Message)
		c.faults = last(c.faults, f, maxErrors)
		c.Failed++
	}
}

// line returns the line of an item, and begins it if there is none and who says it; nil for none.
func (b *book) line(session, item, who string) *Line {
	c := b.change(session)
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.lines, func(l Line) bool { return l.item == item })
	if i < 0 && who == "" {
		return nil
	}
	if i < 0 {
		c.lines = last(c.lines, Line{item: item, Who: who}, maxLines)
		i = len(c.lines) - 1
	}
	return &c.lines[i]
}

// forget removes the line of an item that is no part of the conversation any more.
func (b *book) forget(session, item string) {
	if c := b.change(session); c != nil {
		c.lines = slices.DeleteFunc(c.lines, func(l Line) bool { return l.item == item })
	}
}

// cut leaves of a line what was heard in ms of its audio, to the last whole word. Without its pieces the line keeps all of its text.
func (l *Line) cut(ms int) {
	if l.Cut = true; len(l.pieces) == 0 {
		return
	}
	text, heard := []rune(l.Text), 0
	for _, p := range l.pieces {
		switch {
		case p.to > 0 && p.to <= ms:
			heard = max(heard, p.first+p.characters)
		case p.from < ms && p.to > p.from:
			heard = max(heard, p.first+p.characters*(ms-p.from)/(p.to-p.from))
		}
	}
	if heard >= len(text) {
		return
	}
	for heard > 0 && !unicode.IsSpace(text[heard]) {
		heard--
	}
	l.Text = strings.TrimSpace(string(text[:heard]))
}

// piece notes which audio speaks a part of a line. The piece comes again when all of it is made.
func (l *Line) piece(p piece) {
	if n := len(l.pieces); n > 0 && l.pieces[n-1].first == p.first {
		l.pieces[n-1] = p
	} else if n < maxPieces {
		l.pieces = append(l.pieces, p)
	}
}

// short returns a text, or the beginning of one that is long.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// shrink keeps the book within its limits. It takes from the principal with the most: the call that ended first, and then the older half of the parts of its largest call.
func (b *book) shrink() {
	for {
		size, ended := map[string]int{}, map[string]int{}
		all, count := 0, 0
		for _, c := range b.calls {
			n := c.size()
			size[c.Key] += n
			if all += n; c.Ended != nil {
				ended[c.Key]++
				count++
			}
		}
		switch {
		case count > maxEnded:
			b.drop(most(ended))
		case all <= maxBytes:
			return
		case ended[most(size)] > 0:
			b.drop(most(size))
		case !b.halve(most(size)):
			return
		}
	}
}

// most returns the name with the largest number.
func most(of map[string]int) (name string) {
	first := true
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if first || of[k] > of[name] {
			name, first = k, false
		}
	}
	return name
}

// drop forgets the call of a principal that ended first.
func (b *book) drop(key string) {
	var oldest *call
	for _, c := range b.calls {
		if c.Key == key && c.Ended != nil && (oldest == nil || c.Ended.Before(*oldest.Ended)) {
			oldest = c
		}
	}
	b.version++
	b.members = b.version
	delete(b.calls, oldest.Session)
}

// halve forgets the older half of what is known of the largest call of a principal. It reports false if nothing is left.
func (b *book) halve(key string) bool {
	var largest *call
	for _, c := range b.calls {
		if c.Key == key && (largest == nil || c.size() > largest.size()) {
			largest = c
		}
	}
	if largest == nil || largest.size() <= callSize+4*partSize {
		return false
	}
	c := b.change(largest.Session)
	c.steps, c.turns = half(c.steps), half(c.turns)
	c.lines, c.faults = half(c.lines), half(c.faults)
	return true
}

func half[T any](all []T) []T { return slices.Clone(all[(len(all)+1)/2:]) }
