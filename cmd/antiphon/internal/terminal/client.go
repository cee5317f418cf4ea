package terminal

// This file places a call, passes the user's input to it, and ends it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// Options say which call to place.
type Options struct {
	URL       string // address of the server
	Key       string // API key or client secret; empty where the server asks for none
	Loopback  bool   // the server is on this machine and may be reached by a loopback address
	WebSocket bool   // call over a WebSocket instead of WebRTC

	Text       bool   // no microphone and no sound
	Microphone string // "device", "device:NAME", "none" or the name of a WAV file
	Speaker    string // likewise
	PushToTalk bool   // an empty line begins and ends the user's speech

	Model, Instructions, Voice, Language string // settings of the session; empty for the server's own
	NoPrediction                         bool   // only the server decides about interruptions
}

// hangUpTime limits how long the end of a call may take.
const hangUpTime = 3 * time.Second

// errNotAnswered is returned when the call ends before the last message was answered.
var errNotAnswered = errors.New("not answered")

// Talk holds one call until its input ends, ctx is done, or the call ends by itself. Each line of the console's input is a
// message. If the console's output is no terminal, Talk writes only the agent's answers to it, one line each.
func Talk(ctx context.Context, o Options, c Console) (err error) {
	sound, err := openSound(o, c.Err)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sound.close()) }()
	session, err := newSession(o, sound)
	if err != nil {
		return err
	}
	if o.PushToTalk && sound.source == nil {
		return &sdk.Error{Kind: sdk.ErrNoMicrophone, Detail: "--push-to-talk needs one"}
	}
	if err := session.Connect(ctx); err != nil {
		return err
	}
	screen := newScreen(c)
	stop := session.Subscribe(screen.show)
	conversation := &conversation{session: session, sound: sound, console: c, pushToTalk: o.PushToTalk}
	err = conversation.run(ctx)
	stop()
	screen.end()
	hangUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpTime)
	defer cancel()
	return errors.Join(err, session.Close(hangUp))
}

// newSession returns a session that is not connected yet.
func newSession(o Options, sound *sounds) (*sdk.Session, error) {
	platform := native.Options{
		URL: o.URL, Key: o.Key, Microphone: sound.source, Speaker: sound.sink, Loopback: o.Loopback,
		Detector: sound.source != nil && !o.NoPrediction,
	}
	settings := sdk.Options{
		Model: o.Model, Instructions: o.Instructions, Voice: o.Voice, Language: o.Language, NoPrediction: o.NoPrediction,
		TextReplies: o.Text, NoMicrophone: sound.source == nil,
	}
	if o.PushToTalk {
		settings.TurnDetection = &sdk.TurnDetection{Manual: true}
	}
	if o.WebSocket {
		settings.Dialer = native.NewSocketDialer(platform)
		return sdk.New(settings)
	}
	dialer, err := native.NewDialer(platform)
	if err != nil {
		return nil, err
	}
	settings.Dialer = dialer
	return sdk.New(settings)
}

// conversation passes the user's input to a connected session.
type conversation struct {
	session    *sdk.Session
	sound      *sounds
	console    Console
	pushToTalk bool
	talking    bool // push-to-talk: the user has begun to speak
}

// run sends each line as a message. It returns when the input has ended, the WAV file (if any) has been sent, and the last
// message is answered. It returns earlier, with an error, when ctx is done or the call ends.
func (c *conversation) run(ctx context.Context) error {
	lines := readLines(ctx, c.console.In)
	said, err := c.sound.speak()
	if err != nil {
		return err
	}
	ended, cancel := watchEnd(c.session)
	defer cancel()
	for open := true; open || said != nil; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-said:
			said = nil
			if open && c.console.InTerminal {
				continue // the user may still type
			}
			if err := settle(ctx, c.session, quietTime, ended); err != nil {
				return err
			}
		case line, more := <-lines:
			if !more {
				lines = nil
				open = !c.console.InTerminal && c.sound.device // the microphone stays open, so the call goes on
				continue
			}
			if err := c.handleLine(line); err != nil {
				return err
			}
			if !c.console.InTerminal && line != "" {
				if err := settle(ctx, c.session, 0, ended); err != nil {
					return err
				}
			}
		}
	}
	if e := c.session.Snapshot().Err; e != nil {
		return fmt.Errorf("%w: %w", errNotAnswered, e)
	}
	return nil
}

// handleLine sends a line as a message. An empty line interrupts the agent; with push-to-talk it begins or ends the user's
// speech instead.
func (c *conversation) handleLine(line string) error {
	switch {
	case line != "":
		return c.session.SendText(line)
	case c.pushToTalk && !c.talking:
		c.talking = true
		return c.session.StartTalking()
	case c.pushToTalk:
		c.talking = false
		c.session.StopTalking()
		return nil
	}
	return c.session.Interrupt()
}
