package noisebench

// This file places a call in which the person says one word over the agent, or begins to speak at the same time as the agent.

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// stopping is what a person says to stop the agent: a prompt, or a piece of it, in ms. to is 0 for the end.
type stopping struct {
	text, prompt string
	from, to     int
}

func stoppings() []stopping {
	return []stopping{
		{"wait", "vm-dialout", 420, 680},
		{"please wait", "vm-dialout", 0, 680},
		{"hold", "followme/pls-hold-while-try", 360, 700},
		{"please hold", "followme/pls-hold-while-try", 0, 700},
		{"no", "vm-no", 0, 0},
		{"pause", "dictate/pause", 0, 0},
		{"one moment, please", "one-moment-please", 0, 0},
	}
}

const (
	overTries   = 5                       // how often each command is said
	overLeads   = 1500 * time.Millisecond // how long the agent speaks before
	overVerdict = 2500 * time.Millisecond // how long an interruption may take
	overStart   = 30 * time.Second        // how long the agent may take to speak
	overPoll    = 5 * time.Millisecond
	overPairs   = 24                     // how many pairs of sentences there are
	overLead    = 570 * time.Millisecond // from the end of a sentence to the agent's answer, before it is measured
	sameInstant = 100 * time.Millisecond
)

// sound returns what is said, at the level of the prompts.
func (c stopping) sound() ([]float32, error) {
	pcm, err := human.Prompt(c.prompt)
	if err != nil {
		return nil, err
	}
	const ms = human.Rate / 1000
	if c.to > 0 {
		pcm = pcm[:c.to*ms]
	}
	x := leveled(voice.PCM16ToFloat(nil, pcm[c.from*ms:]))
	const ramp = 5 * ms // without a click at the cuts
	for i := range min(ramp, len(x)) {
		x[i] *= float32(i) / ramp
		x[len(x)-1-i] *= float32(i) / ramp
	}
	return x, nil
}

// talker is a microphone that knows how much of its sound the call has taken.
type talker struct {
	native.Microphone
	samples atomic.Int64
}

// Frame implements native.Source.
func (m *talker) Frame(pcm []int16) {
	m.Microphone.Frame(pcm)
	m.samples.Add(int64(len(pcm)))
}

// now returns how much sound the call has taken.
func (m *talker) now() time.Duration {
	return time.Duration(m.samples.Load()) * time.Second / native.Rate
}

// overCall is a call whose person speaks when the agent does something.
type overCall struct {
	*sdk.Session
	mic     talker
	speaker *native.Speaker

	mu      sync.Mutex
	changes []change
}

// BenchmarkOver says each command over the agent, and pairs of sentences while the agent begins.
func BenchmarkOver(b *testing.B) {
	c := &overCall{speaker: native.NewSpeaker(0)}
	dialer, err := native.NewDialer(native.Options{URL: serve(b, ears(b), true), Microphone: &c.mic, Speaker: c.speaker, Loopback: true})
	if err != nil {
		b.Fatal(err)
	}
	if c.Session, err = sdk.New(sdk.Options{Dialer: dialer}); err != nil {
		b.Fatal(err)
	}
	before := c.Snapshot().Confirmed
	c.Subscribe(func(now sdk.Snapshot) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if now.Confirmed != before {
			c.changes = append(c.changes, change{c.mic.now(), before, now.Confirmed})
			before = now.Confirmed
		}
	})
	if err := c.Connect(b.Context()); err != nil {
		b.Fatal(err)
	}
	ends(b, func() error { return c.Close(context.Background()) })
	for _, command := range stoppings() {
		b.Run(command.text, func(b *testing.B) { c.measureCommand(b, command) })
	}
	c.measureTalkOver(b, prompts(b, 'n', 'z'))
}

// measureCommand says a command over the agent.
func (c *overCall) measureCommand(b *testing.B, command stopping) {
	x, err := command.sound()
	if err != nil {
		b.Fatal(err)
	}
	var after []time.Duration
	for range overTries {
		if err := c.agentSpeaks(b.Context(), overLeads); err != nil {
			b.Fatal(err)
		}
		from, _, err := c.say(x)
		if err != nil {
			b.Fatal(err)
		}
		if at, ok := c.changesTo(b.Context(), from, sdk.UserSpeaking); ok {
			after = append(after, at-from)
		}
	}
	figures.Share(b, "interrupted", len(after), overTries)
	figures.Times(b, "after", after, 50, 100)
}

// say speaks x from its first sound on. It returns when its first sound and its last sound are sent, by the clock of the microphone.
func (c *overCall) say(x []float32) (from, to time.Duration, err error) {
	up, err := voice.NewResampler(human.Rate, native.Rate)
	if err != nil {
		return 0, 0, err
	}
	first, last := spoken(x)
	x = x[first:]
	begin := c.mic.now()
	_, err = c.mic.Speak(voice.FloatToPCM16(nil, up.Flush(up.Append(nil, x))))
	return begin, begin + time.Duration(last-first)*time.Second/human.Rate, err
}

// agentSpeaks waits until the agent has spoken for some time, without a pause. It asks for an answer if the agent is silent.
func (c *overCall) agentSpeaks(ctx context.Context, of time.Duration) error {
	limit := c.mic.now() + overStart
	for c.mic.now() < limit {
		switch now, since := c.state(); {
		case now == sdk.AgentSpeaking && c.mic.now() >= since+of:
			return nil
		case now == sdk.Listening && c.mic.now() >= since+of:
			if err := c.SendText("go on"); err != nil {
				return err
			}
			if _, ok := c.changesTo(ctx, c.mic.now(), sdk.AgentSpeaking); !ok {
				return errors.New("the agent does not answer")
			}
		}
		if err := pause(ctx, overPoll); err != nil {
			return err
		}
	}
	return errors.New("the agent does not speak")
}

// state returns what the server has said last about who speaks, and since when.
func (c *overCall) state() (now sdk.State, since time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.changes) == 0 {
		return sdk.Listening, 0
	}
	last := c.changes[len(c.changes)-1]
	return last.to, last.at
}

// changesTo waits for the first change to a state after from.
func (c *overCall) changesTo(ctx context.Context, from time.Duration, to sdk.State) (at time.Duration, ok bool) {
	for c.mic.now() < from+overVerdict {
		c.mu.Lock()
		i := slices.IndexFunc(c.changes, func(k change) bool { return k.at >= from && k.to == to })
		if i >= 0 {
			at = c.changes[i].at
		}
		c.mu.Unlock()
		if i >= 0 {
			return at, true
		}
		if pause(ctx, overPoll) != nil {
			return 0, false
		}
	}
	return 0, false
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
