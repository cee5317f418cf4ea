package calltest

// One call: the user of a file talks with the server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// Target is the server that is tested.
type Target struct {
	URL, Key  string
	WebSocket bool          // call over a WebSocket instead of WebRTC
	Loopback  bool          // the server is on this machine
	Voice     string        // of the user; "" is the server's default
	Client    *http.Client  // nil is http.DefaultClient
	Patience  time.Duration // how long the agent may take for an answer, from the step before to the answer's end

	mu     sync.Mutex
	spoken map[string][]int16 // by text: what the synthesizer said
}

// Limits of a call.
const (
	hangUpTime = 3 * time.Second
	maxRecord  = 10 * time.Minute
	speechTime = time.Minute // for the synthesizer to say one sentence
	maxSpeech  = 32 << 20    // bytes
	answerGap  = 5 * time.Second
)

// call is a call in progress.
type call struct {
	target   *Target
	file     *File
	session  *sdk.Session
	mic      *microphone
	speaker  *native.Speaker
	result   *Result
	sounds   [][]int16 // by step
	history  *history
	answered int       // how many entries of the transcript the answers before have taken
	asked    bool      // the user has said or written something since the last answer
	ended    time.Time // when the user's last words ended
	began    time.Time // when the user began to speak over the agent; the zero time if the agent was silent
	over     bool      // the user has spoken over the answer that comes next
}

// Play places the call of f and takes its steps. The error is that of a call that could not be placed, or of a user who cannot speak; all else is in
// the Result. If ctx ends, Play returns the Result and the error of ctx.
func Play(ctx context.Context, t *Target, f *File) (*Result, error) {
	if err := f.Fits(t.WebSocket); err != nil {
		return nil, err
	}
	sounds, level, err := t.sounds(ctx, f)
	if err != nil {
		return nil, err
	}
	f.plays++
	c := &call{
		target: t, file: f, mic: &microphone{line: newBadLine(f.Line, level, f.plays)}, speaker: native.NewSpeaker(maxRecord), sounds: sounds,
		result: &Result{File: f.Path, Name: f.Name}, history: &history{began: time.Now()},
	}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	stop := c.session.Subscribe(c.history.watch)
	c.steps(ctx)
	stop()
	final := c.session.Snapshot().Transcript
	c.result.Transcript = lines(final)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpTime)
	defer cancel()
	_ = c.session.Close(closing) // the call is judged already
	c.result.Seconds = time.Since(c.history.began).Seconds()
	c.mic.mu.Lock()
	defer c.mic.mu.Unlock()
	c.result.user, c.result.agent = c.mic.recorded, c.speaker.Recording()
	c.result.picture = c.history.picture(c, final)
	return c.result, ctx.Err()
}

func (c *call) steps(ctx context.Context) {
	for i := range c.file.Steps {
		s := &c.file.Steps[i]
		err := c.step(ctx, s, c.sounds[i])
		switch {
		case ctx.Err() != nil:
			c.fail(s, "the test was interrupted")
			return
		case err != nil:
			c.fail(s, "%v", err)
			return // what follows depends on it
		}
		for _, p := range c.result.pending {
			c.fail(s, "%s", p)
		}
		c.result.pending = nil
	}
}

func (c *call) fail(s *Step, format string, args ...any) {
	text := fmt.Sprintf("%s:%d: ", c.file.Path, s.line) + fmt.Sprintf(format, args...)
	c.result.Problems = append(c.result.Problems, text)
	c.history.problem(text)
}

// pend notes a mistake of the agent in the present step.
func (c *call) pend(format string, args ...any) {
	c.result.pending = append(c.result.pending, fmt.Sprintf(format, args...))
}

func (c *call) connect(ctx context.Context) (err error) {
	platform := native.Options{URL: c.target.URL, Key: c.target.Key, Client: c.target.Client, Microphone: c.mic, Speaker: c.speaker, Loopback: c.target.Loopback, Detector: true}
	s := c.file.Session
	options := sdk.Options{Instructions: s.Instructions, Model: s.Model, Voice: s.Voice, Language: s.Language}
	if s.Turns != "" {
		options.TurnDetection = &sdk.TurnDetection{Semantic: s.Turns == "semantic_vad"}
	}
	for _, t := range c.file.Tools {
		parameters, err := json.Marshal(t.Parameters)
		if err != nil || t.Parameters == nil {
			parameters = nil
		}
		options.Tools = append(options.Tools, sdk.Tool{Name: t.Name, Description: t.Description, Parameters: parameters, Run: t.run})
	}
	c.session, err = c.target.session(platform, options)
	if err != nil {
		return err
	}
	return c.session.Connect(ctx)
}

func (t *Target) session(platform native.Options, options sdk.Options) (*sdk.Session, error) {
	options.Dialer = native.NewSocketDialer(platform)
	if !t.WebSocket {
		dialer, err := native.NewDialer(platform)
		if err != nil {
			return nil, err
		}
		options.Dialer = dialer
	}
	return sdk.New(options)
}

func (t Tool) run(ctx context.Context, _ string) (string, error) {
	if err := wait(ctx, t.After); err != nil {
		return "", err
	}
	if t.Fails != "" {
		return "", errors.New(t.Fails)
	}
	return t.Answers, nil
}

// step takes one step, whose sound is pcm. An error ends the call.
func (c *call) step(ctx context.Context, s *Step, pcm []int16) error {
	ctx, cancel := context.WithTimeout(ctx, c.target.Patience+s.Wait+s.Silence+time.Duration(len(pcm))*time.Second/native.Rate)
	defer cancel()
	switch s.kind {
	case "say":
		return c.say(ctx, strings.Join(s.Say, " … "), pcm, s.Over)
	case "play":
		return c.say(ctx, filepath.Base(s.Play), pcm, s.Over)
	case "write":
		if err := c.settle(ctx); err != nil {
			return err
		}
		c.asked, c.over, c.ended, c.began = true, false, time.Now(), time.Time{}
		return c.session.SendText(s.Write)
	case "wait":
		return wait(ctx, s.Wait)
	case "silence":
		err := wait(ctx, pause) // the last sounds of an answer may come after its end
		_, before := c.speaker.Sounded()
		if err == nil {
			err = wait(ctx, s.Silence)
		}
		if _, after := c.speaker.Sounded(); after > before {
			c.pend("the agent was heard for %v, and was to be silent", after-before)
		}
		return err
	}
	return c.answer(ctx, s.Answer)
}

// say has the microphone play pcm, and waits until it has.
func (c *call) say(ctx context.Context, what string, pcm []int16, over time.Duration) error {
	wait := c.settle
	if over > 0 {
		wait = func(ctx context.Context) error { return c.heardFor(ctx, over) }
	}
	if err := wait(ctx); err != nil {
		return err
	}
	if c.began, c.over = (time.Time{}), over > 0; c.over {
		c.began = time.Now()
	}
	c.history.said(what)
	said, err := c.mic.Speak(pcm)
	if err != nil {
		return err
	}
	select {
	case <-said:
	case <-ctx.Done():
		return fmt.Errorf("the user could not say it within %v: the call does not take sound", c.target.Patience)
	}
	c.asked, c.ended = true, time.Now()
	return nil
}

// settle waits until the agent has answered, and nobody speaks.
func (c *call) settle(ctx context.Context) error {
	if c.asked { // the server may need a moment until it says that the turn is over
		short, cancel := context.WithTimeout(ctx, answerGap)
		_, _ = c.session.Await(short, func(s sdk.Snapshot) bool { return s.State != sdk.Listening })
		cancel()
	}
	return c.await(ctx, "the agent's answer has no end", func(s sdk.Snapshot) bool { return s.State == sdk.Listening })
}

// await waits for a snapshot. It returns an error that says what did not come, or how the call ended.
func (c *call) await(ctx context.Context, missing string, fits func(sdk.Snapshot) bool) error {
	ended := func(s sdk.Snapshot) bool { return s.State == sdk.Failed || s.State == sdk.Disconnected }
	now, err := c.session.Await(ctx, func(s sdk.Snapshot) bool { return ended(s) || fits(s) })
	switch {
	case err != nil:
		return fmt.Errorf("%s after %v", missing, c.target.Patience)
	case ended(now):
		return fmt.Errorf("the call has ended: %w", now.Err)
	}
	return nil
}

// heardFor waits until the agent has been heard for d since the user's last words.
func (c *call) heardFor(ctx context.Context, d time.Duration) error {
	for {
		if first, is := c.firstSound(); is {
			return wait(ctx, time.Until(first.Add(d)))
		}
		if c.speaker.AwaitSound(ctx) != nil {
			return fmt.Errorf("the agent was not heard within %v", c.target.Patience)
		}
	}
}

// firstSound returns when the agent was first heard after the user's last words.
func (c *call) firstSound() (at time.Time, is bool) {
	quiet := c.began.IsZero() // the agent was not speaking
	var last time.Time
	for _, f := range c.speaker.Frames() {
		if f.Level < native.Audible {
			continue
		}
		if f.At.After(c.ended) && (quiet || f.At.Sub(last) >= pause) {
			return f.At, true
		}
		last = f.At
	}
	return at, false
}

// pause is the silence before the first sound of an answer, where the agent spoke before it. sentencePause is longer than a pause between two sentences of one answer.
const pause, sentencePause = 300 * time.Millisecond, 700 * time.Millisecond

// yielded returns when the agent fell silent after the user has begun to speak over it.
func (c *call) yielded() (at time.Time) {
	at = c.began
	for _, f := range c.speaker.Frames() {
		if f.Level < native.Audible || f.At.Before(c.began) {
			continue
		}
		if f.At.Sub(at) >= sentencePause {
			break
		}
		at = f.At
	}
	return at
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
