package listening

// Noise reduction: the user's audio on its way into the Input.

import (
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxLive is the longest piece of audio that a client that sends a microphone appends at once, in samples: 1 s. A longer piece is a recording.
// It stays as it is: its noise reduction would keep the actor busy, 10 ms for each second.
const maxLive = room.InputRate

// cleaner takes the noise out of audio. The audio that it returns is as long as what it gets, and a little later. The zero value changes nothing.
type cleaner struct {
	reduction pipeline.NoiseReduction // nil: no noise reduction
	held      []int16                 // what the reduction has taken and not returned, as it was
	ready     []int16                 // what was returned last
	rest      []int16                 // comes before what is ready next
	failed    error                   // why the reduction ended, until takeFailure
}

// replace goes on with another reduction, nil for none. It closes the one before.
func (c *cleaner) replace(by pipeline.NoiseReduction) {
	c.rest = append(c.rest, c.flush()...)
	c.close()
	c.reduction = by
}

func (c *cleaner) close() {
	if c.reduction != nil {
		c.reduction.Close()
		c.reduction = nil
	}
}

// clean takes audio, and returns what is ready. The result is valid until the next call.
func (c *cleaner) clean(pcm []int16) []int16 {
	if c.reduction == nil && len(c.rest) == 0 {
		return pcm
	}
	if len(pcm) > maxLive {
		return append(c.flush(), pcm...)
	}
	return c.through(pcm, func() ([]int16, error) { return c.reduction.Append(c.ready, pcm) })
}

// flush returns all audio that is not returned yet. The result is valid until the next call.
func (c *cleaner) flush() []int16 {
	return c.through(nil, func() ([]int16, error) { return c.reduction.Flush(c.ready) })
}

// through returns what comes before, and what reduce adds to that once it has taken pcm. After an error, what is held is returned as it was, and there
// is no noise reduction any more.
func (c *cleaner) through(pcm []int16, reduce func() ([]int16, error)) []int16 {
	c.ready = append(c.ready[:0], c.rest...)
	c.rest = c.rest[:0]
	if c.reduction == nil {
		c.ready = append(c.ready, pcm...)
		return c.ready
	}
	before := len(c.ready)
	c.held = append(c.held, pcm...)
	if c.ready, c.failed = reduce(); c.failed != nil {
		c.close()
		c.ready = append(c.ready[:before], c.held...)
		c.held = c.held[:0]
		return c.ready
	}
	n := min(len(c.held), len(c.ready)-before)
	c.held = c.held[:copy(c.held, c.held[n:])]
	return c.ready
}

// delay returns how much later the audio is.
func (c *cleaner) delay() time.Duration {
	if c.reduction == nil {
		return 0
	}
	return c.reduction.Delay()
}

// takeFailure returns why the noise reduction has ended by itself, once; else nil.
func (c *cleaner) takeFailure() error {
	err := c.failed
	c.failed = nil
	return err
}

// reduceNoise begins, changes or ends noise reduction, as the settings ask for.
func (l *Listening) reduceNoise() {
	want := l.Settings.NoiseReduction()
	if l.Context.Err() != nil {
		want = "" // the session has ended
	}
	if want == l.reducing {
		return
	}
	l.reducing = want
	if want == "" {
		l.input.cleaner.replace(nil)
		return
	}
	field := pipeline.NearField
	if want == wire.FarField {
		field = pipeline.FarField
	}
	r, err := l.Noise.Open(field)
	if err != nil {
		r = nil
		l.withoutNoiseReduction(err)
	}
	l.input.cleaner.replace(r)
}

// withoutNoiseReduction notes that there is no noise reduction, although the client asked for it.
func (l *Listening) withoutNoiseReduction(why error) {
	l.Log.Warn("noise reduction has failed: the call goes on without it", "err", why)
	l.Settings.NoNoiseReduction()
	l.reducing = ""
}
