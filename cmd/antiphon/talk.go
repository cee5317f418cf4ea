package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

type talk struct {
	URL          string `arg:"" optional:"" default:"http://localhost:8080" help:"The server's address."`
	Key          string `help:"The API key or client secret, where the server asks for one."`
	Websocket    bool   `help:"Talk over a WebSocket instead of WebRTC."`
	Text         bool   `help:"Write and read: no microphone, no sound."`
	Microphone   string `default:"device" placeholder:"device|none|FILE.wav" help:"What is said: the desktop's microphone (device, or device:NAME), nothing, or a file."`
	Speaker      string `default:"device" placeholder:"device|none|FILE.wav" help:"Where the agent is heard: the desktop's loudspeaker, nowhere, or a file."`
	PushToTalk   bool   `help:"The Enter key begins and ends what you say."`
	Instructions string `help:"The agent's."`
	Model        string `help:"The model to ask for."`
	Voice        string `help:"The agent's voice."`
	Language     string `help:"A hint for the recogniser, such as en."`
	NoPrediction bool   `help:"Leave interruptions to the server alone."`
}

// hangUpTime is how long the end of a call may take.
const hangUpTime = 3 * time.Second

// Run holds one call until its input ends, the person ends it, or it ends by itself. Lines from the standard input are messages;
// where that is no terminal, the answers alone go to the standard output, a line each.
func (t *talk) Run(ctx context.Context) error {
	return t.talk(ctx, console{in: os.Stdin, out: os.Stdout, err: os.Stderr, typed: isTerminal(os.Stdin), shown: isTerminal(os.Stdout)})
}

// isTerminal: of the other devices of characters only the one for nothing is ever given to a program.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	nothing, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, nothing)
}

// console is who sits at the other end.
type console struct {
	in           io.Reader
	out, err     io.Writer
	typed, shown bool // in and out are a terminal
}

func (t *talk) talk(ctx context.Context, c console) (err error) {
	sound, err := t.openSound(c.err)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sound.close()) }()
	session, err := t.session(sound)
	if err != nil {
		return err
	}
	if t.PushToTalk && sound.source == nil {
		return &sdk.Error{Kind: sdk.ErrNoMicrophone, Detail: "--push-to-talk needs one"}
	}
	if err := session.Connect(ctx); err != nil {
		return err
	}
	screen := newScreen(c)
	stop := session.Subscribe(screen.show)
	err = t.converse(ctx, session, sound, c)
	stop()
	screen.end()
	hang, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpTime)
	defer cancel()
	return errors.Join(err, session.Close(hang))
}

func (t *talk) session(sound *sounds) (*sdk.Session, error) {
	o := native.Options{
		URL: t.URL, Key: t.Key, Microphone: sound.source, Speaker: sound.sink, Loopback: onThisMachine(t.URL),
		Detector: sound.source != nil && !t.NoPrediction,
	}
	settings := sdk.Options{
		Model: t.Model, Instructions: t.Instructions, Voice: t.Voice, Language: t.Language, NoPrediction: t.NoPrediction,
		TextReplies: t.Text, NoMicrophone: sound.source == nil,
	}
	if t.PushToTalk {
		settings.TurnDetection = &sdk.TurnDetection{Manual: true}
	}
	if t.Websocket {
		settings.Dialer = native.NewSocketDialer(o)
		return sdk.New(settings)
	}
	d, err := native.NewDialer(o)
	if err != nil {
		return nil, err
	}
	settings.Dialer = d
	return sdk.New(settings)
}

// onThisMachine: a server on this machine is reached by an address that others do not have.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && isLoopback(u.Hostname())
}

// errNotAnswered: what was asked got no answer.
var errNotAnswered = errors.New("not answered")

// converse passes on what is typed until that ends, and waits for the last answer.
func (t *talk) converse(ctx context.Context, s *sdk.Session, sound *sounds, c console) error {
	lines := readLines(ctx, c.in)
	said, err := sound.speak()
	if err != nil {
		return err
	}
	ended, cancel := watch(s)
	defer cancel()
	talking := false
	for open := true; open || said != nil; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-said:
			if said = nil; open && c.typed {
				continue
			}
			if err := settle(ctx, s, quietTime, ended); err != nil {
				return err
			}
		case line, more := <-lines:
			if !more {
				lines, open = nil, t.listens(sound, c) // an open microphone goes on
				continue
			}
			if err := t.typed(s, line, &talking); err != nil {
				return err
			}
			if !c.typed && line != "" {
				if err := settle(ctx, s, 0, ended); err != nil {
					return err
				}
			}
		}
	}
	if e := s.Snapshot().Err; e != nil {
		return fmt.Errorf("%w: %w", errNotAnswered, e)
	}
	return nil
}

// listens says whether the call goes on though nothing more is typed.
func (t *talk) listens(sound *sounds, c console) bool { return !c.typed && sound.device }

// typed does what a line stands for: a message; alone, the Enter key ends what the agent says, or talks.
func (t *talk) typed(s *sdk.Session, line string, talking *bool) error {
	switch {
	case line != "":
		return s.SendText(line)
	case t.PushToTalk && !*talking:
		*talking = true
		return s.StartTalking()
	case t.PushToTalk:
		*talking = false
		s.StopTalking()
		return nil
	}
	return s.Interrupt()
}
