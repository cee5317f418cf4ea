package listening

// The ends of turns: an end is tentative for a time, and is taken back if the user goes on (internal/coord/turnend).

import (
	"time"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/internal/script"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	// tentative is how long an end is tentative after the turn was committed (docs/decisions/095).
	tentative = time.Second
	// hardlyHeard is how much of the answer the user may have heard, in samples at room.OutputRate: 800 ms. Who speaks so soon has not spoken because of the answer.
	hardlyHeard = room.OutputRate * 8 / 10
)

// endMachine is the machine of the ends of turns.
var endMachine = room.Machine[turnend.State, turnend.Event, turnend.Effect, turnend.Seen]{Name: "turnend", Table: turnend.Table, Monitor: turnend.Monitor}

// ends has the state of that machine, and what was said in the turns that the state names.
type ends struct {
	state turnend.State
	seen  turnend.Seen // when invariants are checked
	said  map[turn.ID]utterance
}

// utterance is what was said in a turn.
type utterance struct {
	item    machine.Item // the item that the turn became
	text    string       // "" until its transcript is there
	words   []pipeline.Word
	samples int // its length, at room.InputRate
}

// Tentative reports whether an end may still be taken back. Nothing may then begin for its turn that cannot be undone, such as a call of a function.
func (l *Listening) Tentative() bool { return l.ends.state != turnend.State(turnend.Final{}) }

// FixEnd makes a tentative end final, because the client has stopped the answer, has asked for one, or has added an item.
func (l *Listening) FixEnd() { l.stepEnd(turnend.Fixed{}) }

// takesBack reports whether an end that is found now may be taken back: the user may interrupt the answer to it, and the client or the operator wants it.
func (l *Listening) takesBack() bool {
	td := l.Settings.TurnDetection()
	return td != nil && td.CreateResponse && td.InterruptResponse && (l.TakeBack || l.Settings.Client.TakeBack)
}

// stepEnd runs one event through the machine. It performs all effects but Join, which it returns; nil for none.
func (l *Listening) stepEnd(e turnend.Event) (join *turnend.Join) {
	if _, ends := e.(turnend.Ended); !ends && !l.Tentative() {
		return nil // the table ignores it
	}
	effects, st := endMachine.Step(&l.ends.state, &l.ends.seen, e, l.Broken)
	room.LogStep(l.Log, st)
	if l.Trace != nil {
		l.Trace(st.Machine, st)
	}
	for _, f := range effects {
		switch f := f.(type) {
		case turnend.Arm:
			l.after("end", tentative, EndDue(f))
		case turnend.Join:
			join = &f
		case turnend.Settle:
			delete(l.ends.said, f.Turn)
		}
	}
	if d, is := e.(turnend.Dropped); is {
		delete(l.ends.said, d.Turn)
	}
	if _, silent := l.ends.state.(turnend.Tentative); !silent {
		l.timers.Stop("end")
	}
	if !l.Tentative() {
		clear(l.ends.said)
	}
	return join
}

// ended notes that the turn of f has ended and became item. strict: it may answer a question of a run that asks for approval, so its end is final at once.
func (l *Listening) ended(f turn.CommitTurn, item machine.Item, samples int, strict bool) {
	if f.ByClient || f.Wordless || strict || !l.takesBack() {
		l.stepEnd(turnend.Fixed{})
		return
	}
	l.ends.said[f.Turn] = utterance{item: item, samples: samples}
	l.stepEnd(turnend.Ended{Turn: f.Turn})
}

// worded takes the text of turn t, which is there. If the turn goes on with the one before, it puts the words and the audio of that one before its own.
func (l *Listening) worded(t turn.ID, d *Delivery, s *coord.State) (out room.List) {
	if d.Transcript.Text == "" {
		l.stepEnd(turnend.Dropped{Turn: t})
		return nil
	}
	first, goesOn := l.before(t, d.Item, s)
	join := l.stepEnd(turnend.Worded{Turn: t, Joins: goesOn})
	samples := d.Transcript.Samples
	if join != nil {
		pcm, events := l.Conversation.Join(first.item, d.Item)
		out.SendAll(events)
		d.Transcript.Text = joined(first.text, d.Transcript.Text)
		d.Transcript.Words = joinedWords(first, d.Transcript.Words)
		if d.PCM = append(pcm[:len(pcm):len(pcm)], d.PCM...); pcm == nil {
			d.PCM = nil // a model that hears gets the transcript, and not the second half of the audio
		}
		samples += first.samples
		l.Log.Info("the user goes on: two turns become one", "turn", join.Turn, "into", join.Into)
		delete(l.ends.said, join.Turn)
	}
	if _, is := l.ends.said[t]; is {
		l.ends.said[t] = utterance{d.Item, d.Transcript.Text, d.Transcript.Words, samples}
	}
	return out
}

// before returns what was said before turn t, if t goes on with that: item is what t became, 0 while it is open.
func (l *Listening) before(t turn.ID, item machine.Item, s *coord.State) (utterance, bool) {
	c, is := l.ends.state.(turnend.Continued)
	if _, cut := s.Playout.(playout.Cut); !is || c.Next != t || cut { // it is not known yet how much of the answer was heard
		return utterance{}, false
	}
	first := l.ends.said[c.Turn]
	return first, first.text != "" && l.Conversation.Joins(first.item, item, hardlyHeard)
}

// joined returns two texts as one. Scripts without spaces get none between them.
func joined(a, b string) string {
	if last, _ := utf8.DecodeLastRuneInString(a); script.Unspaced(last) {
		return a + b
	}
	return a + " " + b
}

// joinedWords returns the words of two turns that became one; nil if those of one are not known. Those of the second follow the audio of the first.
func joinedWords(first utterance, second []pipeline.Word) (all []pipeline.Word) {
	if first.words == nil || second == nil {
		return nil
	}
	all = append(all, first.words...)
	for _, w := range second {
		shift := time.Duration(first.samples) * time.Second / room.InputRate
		w.Start, w.End = w.Start+shift, w.End+shift
		all = append(all, w)
	}
	return all
}
