package noisebench

// This file holds one call of BenchmarkTurns: the user speaks over the agent, and the call notes what the user's ear gets.

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

const (
	turnsPoll   = 20 * time.Millisecond
	turnsOpen   = 3                       // sentences that the user says to the silent agent, at the begin of a call
	turnsWait   = 5 * time.Second         // how long the user waits for an answer
	turnsAgain  = 900 * time.Millisecond  // how long the agent speaks before something is said over it, and up to as much again
	turnsLook   = 2200 * time.Millisecond // what is noted after the begin of each event
	turnsPause  = 100 * time.Millisecond  // a shorter silence belongs to the agent's speech
	turnsNudge  = 4 * time.Second         // a silence after which the user writes to the agent
	nativeFrame = 20 * time.Millisecond
)

// line is what a client plays, and the microphone beside it: both have one clock, the sound that the microphone has given.
type line struct {
	noise []int16 // goes on all the time, again and again
	law   bool    // the telephone network is between the loudspeaker and the ear

	mu      sync.Mutex
	said    []int16 // what is left to say
	samples int64
	heard   []earful
	down    *voice.Resampler
}

// earful is a frame that the ear got.
type earful struct {
	at    time.Duration
	level float64 // dBFS
}

// Frame implements native.Source.
func (l *line) Frame(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := copy(pcm, l.said)
	l.said = l.said[n:]
	clear(pcm[n:])
	for i := range pcm {
		if len(l.noise) > 0 {
			pcm[i] += l.noise[(int(l.samples)+i)%len(l.noise)]
		}
	}
	l.samples += int64(len(pcm))
}

// Hear implements native.Sink.
func (l *line) Hear(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.law {
		pcm = voice.MuLawToPCM16(nil, voice.AppendMuLaw(nil, l.down.AppendPCM16(nil, pcm)))
	}
	l.heard = append(l.heard, earful{l.clock(), float64(voice.DBFS(voice.RMS(voice.PCM16ToFloat(nil, pcm))))})
}

// clock returns how much sound the microphone has given. The caller holds the lock.
func (l *line) clock() time.Duration { return time.Duration(l.samples) * time.Second / native.Rate }

func (l *line) now() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock()
}

// say begins to say x, and returns when its first sample goes out.
func (l *line) say(x []int16) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = x
	return l.clock()
}

// sounds returns whether the agent sounds now, and for how long it has done so without a silence of turnsPause.
func (l *line) sounds() (is bool, since time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	silent := time.Duration(0)
	last := l.clock()
	for i := len(l.heard) - 1; i >= 0; i-- {
		h := l.heard[i]
		loud := h.level >= native.Audible
		if i == len(l.heard)-1 {
			is = loud
		}
		if loud != is {
			if silent += nativeFrame; silent >= turnsPause || !is {
				break
			}
			continue
		}
		silent, last = 0, h.at
	}
	return is, l.clock() - last
}

// between returns the frames that the ear got in a span of time.
func (l *line) between(from, to time.Duration) (all []earful) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.heard {
		if h.at >= from && h.at < to {
			all = append(all, h)
		}
	}
	return all
}

// heardEvent is one thing that the user said, and what the ear got of the agent from then on.
type heardEvent struct {
	kind  kind
	text  string
	open  bool // said to a silent agent
	from  time.Duration
	to    time.Duration // the end of the last sound
	until time.Duration // the begin of the next event
	ear   []earful
}

// panelCall is one call.
type panelCall struct {
	*line
	session *sdk.Session
	random  *rand.Rand
}

// hold holds a call in which the user says n sounds of each kind over the agent.
func (c *panelCall) hold(ctx context.Context, r repertoire, n int) (events []heardEvent, err error) {
	if err := c.session.Connect(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.session.Close(context.WithoutCancel(ctx))) }()
	var plan []heardEvent
	for range turnsOpen {
		plan = append(plan, heardEvent{open: true})
	}
	for k := range kinds {
		for range n {
			plan = append(plan, heardEvent{kind: k})
		}
	}
	c.random.Shuffle(n*int(kinds), func(i, j int) { plan[turnsOpen+i], plan[turnsOpen+j] = plan[turnsOpen+j], plan[turnsOpen+i] })
	for _, e := range plan {
		s := r[e.kind][c.random.IntN(len(r[e.kind]))]
		x, err := c.line24(s.PCM)
		if err != nil {
			return nil, err
		}
		if err := c.ready(ctx, e.open); err != nil {
			return nil, err
		}
		e.text = s.Text
		e.from = c.say(x)
		e.to = e.from + human.Duration(len(s.PCM))
		if err := c.until(ctx, func() bool { return c.now() >= max(e.to, e.from+turnsLook) }); err != nil {
			return nil, err
		}
		if e.kind == interruption { // the answer
			limit := e.to + turnsWait
			if err := c.until(ctx, func() bool { is, _ := c.sounds(); return is || c.now() >= limit }); err != nil {
				return nil, err
			}
		}
		e.until = c.now() + 2*nativeFrame
		e.ear = c.between(e.from, e.until)
		events = append(events, e)
	}
	return events, nil
}

// ready waits until the user may say the next sound: the agent has spoken for a while, or, if open, the agent is silent.
func (c *panelCall) ready(ctx context.Context, open bool) error {
	lead := turnsAgain + time.Duration(c.random.Int64N(int64(turnsAgain)))
	if open {
		if is, _ := c.sounds(); is {
			if err := c.session.Interrupt(); err != nil {
				return err
			}
		}
		return c.until(ctx, func() bool { is, since := c.sounds(); return !is && since >= lead })
	}
	nudged := c.now()
	var failed error
	err := c.until(ctx, func() bool {
		is, since := c.sounds()
		if !is && since > turnsNudge && c.now() > nudged+turnsNudge {
			nudged = c.now()
			failed = c.session.SendText("go on")
		}
		return is && since >= lead || failed != nil
	})
	return errors.Join(err, failed)
}

// until polls.
func (c *panelCall) until(ctx context.Context, met func() bool) error {
	for !met() {
		if err := pause(ctx, turnsPoll); err != nil {
			return err
		}
	}
	return nil
}

// line24 returns what the microphone gives for x: at the client's rate, and through the telephone network if there is one.
func (c *panelCall) line24(x []float32) ([]int16, error) {
	rate := human.Rate
	if c.law {
		narrow, err := resampled(x, human.Rate, 8000)
		if err != nil {
			return nil, err
		}
		x, rate = voice.PCM16ToFloat(nil, voice.MuLawToPCM16(nil, voice.AppendMuLaw(nil, voice.FloatToPCM16(nil, narrow)))), 8000
	}
	x, err := resampled(x, rate, native.Rate)
	return voice.FloatToPCM16(nil, x), err
}

func resampled(x []float32, from, to int) ([]float32, error) {
	r, err := voice.NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Append(nil, x)), nil
}

// newPanelCall makes the n-th call under a condition.
func newPanelCall(url string, c panelCondition, predicts bool, n int) (call *panelCall, end func() error, err error) {
	random := rand.New(rand.NewPCG(25, uint64(n)))
	l := &line{law: c.law}
	if l.down, err = voice.NewResampler(native.Rate, 8000); err != nil {
		return nil, nil, err
	}
	if c.noise > 0 {
		x, err := resampled(fan(20*human.Rate, random), human.Rate, native.Rate)
		if err != nil {
			return nil, nil, err
		}
		for i := range x {
			x[i] *= gainOf(-c.noise)
		}
		l.noise = voice.FloatToPCM16(nil, x)
	}
	link := c.link
	link.Seed = uint64(n)
	relay, err := rig.NewRelay(url, link)
	if err != nil {
		return nil, nil, err
	}
	dialer, err := native.NewDialer(native.Options{URL: relay.URL, Microphone: l, Speaker: l, Loopback: true, Detector: predicts})
	if err != nil {
		return nil, nil, errors.Join(err, relay.Close())
	}
	session, err := sdk.New(sdk.Options{Dialer: dialer, TurnDetection: &sdk.TurnDetection{Semantic: true}, NoPrediction: !predicts})
	if err != nil {
		return nil, nil, errors.Join(err, relay.Close())
	}
	return &panelCall{line: l, session: session, random: random}, relay.Close, nil
}
