package reconciliation

// Random events, beside an observer who notes when each wait has begun.

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
)

// observer notes the last signs of life of a dialog, and the inputs that the server has not answered.
type observer struct {
	*rand.Rand
	d                     *Dialog
	now                   time.Duration
	turn, response, sound time.Duration // the last signs
	item, reply           int           // the newest
	stopped               bool          // the speech of the newest item has stopped, and the server is to answer it
	ends                  map[view.Seq]time.Duration
	waits                 map[view.Seq]time.Duration
}

// TestEachWaitIsAsLongAsItMayBe: whatever happens, the deadline is that of the wait that ends first, and a wait begins again with each sign of life.
func TestEachWaitIsAsLongAsItMayBe(t *testing.T) {
	for seed := range uint64(300) {
		g := gomega.NewWithT(t)
		o := &observer{Rand: rand.New(rand.NewPCG(seed, 5)), d: opened(), ends: map[view.Seq]time.Duration{}, waits: map[view.Seq]time.Duration{}}
		for range 100 {
			o.now += time.Duration(1+o.IntN(3000)) * time.Millisecond
			did := o.something()
			g.Expect(o.d.Deadline()).To(gomega.Equal(o.deadline()), "seed %d, after %s at %v", seed, did, o.now)
		}
	}
}

// deadline returns the end of the first wait.
func (o *observer) deadline() time.Duration {
	first := deadline.Never
	waits := func(until time.Duration) {
		if first == deadline.Never || until < first {
			first = until
		}
	}
	switch is := o.d.Confirmed(); {
	case is.Speech != 0:
		waits(o.turn + 15*time.Second)
	case o.stopped:
		waits(o.turn + 5*time.Second)
	case is.Waiting != 0 && is.Live == 0:
		waits(o.turn + 10*time.Second)
	}
	switch is := o.d.Confirmed(); {
	case is.Live != 0:
		waits(o.response + time.Minute)
	case is.Sound != 0:
		waits(o.sound + 4*time.Second)
	}
	for seq, end := range o.ends {
		if o.d.Model.Awaits(seq) {
			waits(end)
		}
	}
	return first
}

// something lets one thing happen, and returns what.
func (o *observer) something() string {
	d, now := o.d, o.now
	item, reply := fmt.Sprint("item ", o.item), fmt.Sprint("reply ", o.reply)
	switch n := o.IntN(13); n {
	case 0:
		o.item++
		o.turn, o.stopped = now, false
		d.SpeechStarted(fmt.Sprint("item ", o.item), now)
		return "the speech begins"
	case 1:
		answered := o.IntN(2) > 0
		if d.Confirmed().Speech != 0 && answered {
			o.turn, o.stopped = now, true
		}
		d.SpeechStopped(item, answered, now)
		return fmt.Sprint("the speech stops, answered ", answered)
	case 2:
		o.turn, o.stopped = now, false
		d.Committed(item, o.IntN(2) > 0, now)
		return "the commit"
	case 3:
		if o.IntN(3) == 0 {
			item = fmt.Sprint("item ", o.item-1)
		}
		if d.Item() == item {
			o.turn = now
		}
		d.Captioned(item, now)
		return "a caption"
	case 4:
		microphone, agent := o.Float32(), o.Float32()
		if agent > audible {
			o.sound, o.response = now, now
		}
		if microphone > audible && d.Confirmed().Speech != 0 {
			o.turn = now
		}
		d.Measured(microphone, agent, now)
		return "levels"
	case 5:
		o.reply++
		o.response = now
		d.ResponseCreated(fmt.Sprint("reply ", o.reply), now)
		return "a response"
	case 6:
		o.response = now
		d.ResponseGoesOn(now)
		return "an event of the response"
	case 7:
		o.sound = now
		d.ResponseDone(reply, now)
		return "the end of the response"
	case 8:
		o.sound = now
		d.SoundStarted(reply, now)
		return "the sound of the response"
	case 9:
		d.SoundEnded("", o.IntN(2) > 0)
		return "the end of the sound"
	case 10:
		return o.reconnected()
	}
	return o.input()
}

// reconnected restores the connection: every wait begins again.
func (o *observer) reconnected() string {
	o.turn, o.response, o.sound = o.now, o.now, o.now
	for seq, wait := range o.waits {
		o.ends[seq] = o.now + wait
	}
	o.d.ConnectionRestored(o.now)
	return "another connection"
}

// input makes an input of the client, or lets the server refuse one.
func (o *observer) input() string {
	if newest := len(o.waits); newest > 0 && o.IntN(3) == 0 {
		o.d.Refused(view.Seq(1 + o.IntN(newest)))
		return "a refusal"
	}
	wait := time.Duration(1+o.IntN(20)) * time.Second
	in := []view.Input{view.Ask{}, view.Write{}, view.Commit{}, view.Cancel{}, view.Clear{}}[o.IntN(5)]
	if seq := o.d.Expect(in, "m", wait, o.now); seq != 0 {
		o.waits[seq], o.ends[seq] = wait, o.now+wait
	}
	return in.Name()
}
