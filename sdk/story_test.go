package sdk

// The stories in testdata: what a session does and shows, as a readable sequence of events and results.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/antiphon-rt/antiphon/wire"
)

// TestStories plays the files in testdata. Each file is the life of one session. A line that begins with ">" is something that the
// session did on its call; one with "=" is a state that it showed; one with "!" is a line of its log.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		commands, outputs := make(chan *datadriven.TestData), make(chan string)
		over := make(chan struct{})
		go func() {
			defer close(over)
			synctest.Test(t, func(*testing.T) {
				story := newStory()
				for c := range commands {
					outputs <- story.do(c)
				}
				story.end()
			})
		}()
		datadriven.RunTest(t, path, func(_ *testing.T, c *datadriven.TestData) string {
			commands <- c
			return <-outputs
		})
		close(commands)
		<-over
	})
}

// story is one session in a synctest bubble, with the commands that a file can give.
type story struct {
	session      *Session
	dialer       *fakeDialer
	peer         *fakePeer
	tools        map[string]chan toolResult // the running tools, by their arguments
	state        State
	interrupting bool

	mu     sync.Mutex
	seen   []string
	beside []string // lines of other goroutines, whose order is not fixed: tools that began to run, the end of Connect and of the call
}

type toolResult struct {
	output string
	err    error
}

func newStory() *story {
	s := &story{tools: map[string]chan toolResult{}}
	s.peer = &fakePeer{note: s.note, noteClosed: func() { s.noteBeside("> (closed)") }, antiphon: true}
	s.dialer = &fakeDialer{peer: s.peer}
	return s
}

func (s *story) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, line)
}

func (s *story) noteBeside(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside = append(s.beside, line)
}

// drain waits until all goroutines are idle, and returns the lines since the last call.
func (s *story) drain() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.beside) // they run at the same time
	out := strings.Join(append(s.seen, s.beside...), "\n")
	s.seen, s.beside = nil, nil
	return out
}

func (s *story) end() {
	for _, c := range s.tools {
		close(c)
	}
	if s.session != nil {
		_ = s.session.Close(context.Background())
	}
}

func (s *story) do(c *datadriven.TestData) string {
	commands := map[string]func(*datadriven.TestData) string{
		"session": s.make, "connect": s.connect, "connecting": s.connecting, "hear": s.hear, "peer": s.peerTells,
		"text": s.text, "interrupt": s.interrupt, "commit": s.commit, "mute": s.mute, "update": s.update,
		"tool": s.tool, "wait": s.wait, "close": s.close, "dismiss": s.dismiss, "microphone": s.microphone,
		"transcript": s.transcript, "problem": s.problem, "turn": s.turn, "call": s.call, "devices": s.devices,
		"score": s.score, "progress": s.progress, "runs": s.runs, "answer": s.answer,
	}
	f := commands[c.Cmd]
	if f == nil {
		return "unknown command " + c.Cmd
	}
	said := f(c)
	seen := s.drain()
	switch {
	case said == "":
		return seen
	case seen == "":
		return said
	}
	return seen + "\n" + said
}

// session [tools=(a,b)] [player] [ducker] [rewinder] [plain] [text] [no-microphone] [no-prediction]: makes the session.
func (s *story) make(c *datadriven.TestData) string {
	o := Options{Dialer: s.dialer, TextReplies: c.HasArg("text"), NoMicrophone: c.HasArg("no-microphone")}
	o.Log = func(line string) {
		if !strings.HasPrefix(line, "state:") {
			s.note("! " + line)
		}
	}
	s.dialer.player, s.dialer.ducker, s.dialer.rewinder = c.HasArg("player"), c.HasArg("ducker"), c.HasArg("rewinder")
	o.NoPrediction = c.HasArg("no-prediction")
	s.peer.antiphon = !c.HasArg("plain")
	if arg, ok := c.Arg("tools"); ok {
		for _, name := range arg.Vals {
			o.Tools = append(o.Tools, Tool{Name: name, Description: "test", Run: s.runTool})
		}
	}
	var err error
	if s.session, err = New(o); err != nil {
		return err.Error()
	}
	s.session.Subscribe(func(now Snapshot) {
		if now.State != s.state {
			s.state = now.State
			s.note("= " + now.State.String())
		}
		if now.Interrupting != s.interrupting {
			s.interrupting = now.Interrupting
			s.note(map[bool]string{true: "= interrupting?", false: "= not interrupting any more"}[now.Interrupting])
		}
	})
	return ""
}

func (s *story) runTool(ctx context.Context, arguments string) (string, error) {
	s.mu.Lock()
	c := make(chan toolResult)
	s.tools[arguments] = c
	s.mu.Unlock()
	s.noteBeside("> (tool runs with " + arguments + ")")
	select {
	case r := <-c:
		return r.output, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// tool arguments=A [error]: lets the tool that runs with these arguments return the input.
func (s *story) tool(c *datadriven.TestData) string {
	arguments := value(c, "arguments")
	r := toolResult{output: strings.TrimSpace(c.Input)}
	if c.HasArg("error") {
		r = toolResult{err: errors.New(r.output)}
	}
	s.tools[arguments] <- r
	return ""
}

// connecting: calls Connect and does not wait for it.
func (s *story) connecting(*datadriven.TestData) string {
	go func() {
		if err := s.session.Connect(context.Background()); err != nil {
			s.noteBeside("connect: " + err.Error())
		}
	}()
	return ""
}

// connect [no-transcription] [manual]: connects to a server that makes its session at once.
func (s *story) connect(c *datadriven.TestData) string {
	s.connecting(c)
	synctest.Wait()
	told := wire.DefaultSession()
	told.ID, told.Model = "sess_1", "test-model"
	if !c.HasArg("no-transcription") {
		told.Audio.Input.Transcription = &wire.Transcription{}
	}
	if c.HasArg("manual") {
		told.Audio.Input.TurnDetection = nil
	}
	created := &wire.SessionCreated{EventID: "e", Session: told}
	s.peer.sink(PeerOpened{})
	s.peer.sink(Message{Data: wire.AppendServer(nil, created)})
	return ""
}

// hear: the server sends one event for each line of input: a type and key=value pairs. A line "raw TEXT" sends a text that is no
// event.
func (s *story) hear(c *datadriven.TestData) string {
	for line := range strings.Lines(c.Input) {
		line = strings.TrimSpace(line)
		if raw, ok := strings.CutPrefix(line, "raw "); ok {
			s.peer.sink(Message{Data: []byte(raw)})
			continue
		}
		text, err := eventText(line)
		if err != nil {
			return err.Error()
		}
		s.peer.sink(Message{Data: text})
	}
	return ""
}

// peer: lost, restored, opened, ended, full, mic=LEVEL, agent=LEVEL, mic-asked, mic-refused, mic-opened=ID,
// sound-blocked, played=RESPONSE, at=POSITION, speech-onset, speech-sustained, speech-ended, passed=POSITION.
func (s *story) peerTells(c *datadriven.TestData) string {
	for _, arg := range c.CmdArgs {
		first := ""
		if len(arg.Vals) > 0 {
			first = arg.Vals[0]
		}
		events := map[string]PeerEvent{
			"lost": PeerLost{}, "restored": PeerRestored{}, "opened": PeerOpened{},
			"ended": PeerEnded{}, "mic-asked": MicrophoneAsked{}, "mic-refused": MicrophoneFailed{Err: ErrPermission},
			"mic-opened": MicrophoneOpened{ID: first}, "sound-blocked": SoundBlocked{Blocked: true},
			"played": PlaybackStopped{ResponseID: first}, "full": nil, "at": nil,
			"speech-onset":     SpeechOnset{At: PlayedPosition{Timestamp: s.peer.at.Load()}, Known: s.dialer.ducker},
			"speech-sustained": SpeechSustained{}, "speech-ended": SpeechEnded{},
			"passed": PositionPassed{At: PlayedPosition{Timestamp: uint32(level(first))}},
			"mic":    LevelsMeasured{Levels: Levels{Mic: level(first)}},
			"agent":  LevelsMeasured{Levels: Levels{Agent: level(first)}},
		}
		e, ok := events[arg.Key]
		if !ok {
			return "unknown " + arg.Key
		}
		switch arg.Key {
		case "full":
			s.peer.sendErr = ErrOverrun
			continue
		case "at":
			s.peer.at.Store(uint32(level(first)))
			continue
		case "played":
			s.peer.playing.Store(false)
		}
		s.peer.sink(e)
	}
	return ""
}

// value returns an argument's value; "" when there is none.
func value(c *datadriven.TestData, key string) string {
	if a, ok := c.Arg(key); ok && len(a.Vals) > 0 {
		return a.Vals[0]
	}
	return ""
}

func level(text string) float32 {
	f, _ := strconv.ParseFloat(text, 32) // only levels are numbers; others are not used
	return float32(f)
}

func (s *story) text(c *datadriven.TestData) string {
	return outcome(s.session.SendText(strings.TrimSpace(c.Input)))
}

func (s *story) interrupt(*datadriven.TestData) string { return outcome(s.session.Interrupt()) }

func (s *story) commit(*datadriven.TestData) string { return outcome(s.session.Commit()) }

func (s *story) mute(c *datadriven.TestData) string {
	s.session.SetMuted(c.HasArg("on"))
	return ""
}

// update [instructions=X] [voice=X] [manual] [semantic] [text]: changes the session.
func (s *story) update(c *datadriven.TestData) string {
	var p Patch
	if v := value(c, "instructions"); v != "" {
		p.Instructions = &v
	}
	if v := value(c, "voice"); v != "" {
		p.Voice = &v
	}
	if c.HasArg("manual") || c.HasArg("semantic") {
		p.TurnDetection = &TurnDetection{Manual: c.HasArg("manual"), Semantic: c.HasArg("semantic"), Eagerness: "high"}
	}
	if c.HasArg("text") {
		yes := true
		p.TextReplies = &yes
	}
	return outcome(s.session.Update(p))
}

// microphone id=X [error]: chooses a microphone.
func (s *story) microphone(c *datadriven.TestData) string {
	id := value(c, "id")
	s.peer.micErr = nil
	if c.HasArg("error") {
		s.peer.micErr = ErrMicrophoneBusy
	}
	err := s.session.SetMicrophone(context.Background(), id)
	return strings.TrimPrefix(outcome(err)+"\nmicrophone ", "\n") + s.session.Snapshot().Microphone
}

func (s *story) devices(*datadriven.TestData) string {
	s.dialer.devices = Devices{Microphones: []Device{{ID: "m1", Label: "Built-in"}}}
	if err := s.session.RefreshDevices(context.Background()); err != nil {
		return err.Error()
	}
	if err := s.session.RefreshPipeline(context.Background()); err != nil {
		return err.Error()
	}
	now := s.session.Snapshot()
	return fmt.Sprintf("%+v\n%+v", now.Devices, now.Pipeline)
}

func outcome(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s *story) wait(c *datadriven.TestData) string {
	d, err := time.ParseDuration(c.CmdArgs[0].Key)
	if err != nil {
		return err.Error()
	}
	<-time.After(d)
	return ""
}

func (s *story) close(*datadriven.TestData) string {
	return outcome(s.session.Close(context.Background()))
}

func (s *story) dismiss(*datadriven.TestData) string {
	s.session.DismissError()
	return ""
}

func (s *story) transcript(*datadriven.TestData) string {
	var b strings.Builder
	for _, e := range s.session.Snapshot().Transcript {
		fmt.Fprintf(&b, "%s %s: %q", e.ItemID, e.Role, e.Text)
		for _, mark := range []struct {
			on   bool
			text string
		}{
			{e.Heard < len(e.Text), fmt.Sprintf(" of which %q is heard", e.Text[:e.Heard])},
			{e.Spoken, " spoken"},
			{e.Live, " live"},
			{e.Interrupted, " interrupted"},
			{e.HeardMS >= 0, fmt.Sprintf(" heard %d ms", e.HeardMS)},
			{e.Failed, " failed"},
			{e.Note != "", " (" + e.Note + ")"},
		} {
			if mark.on {
				b.WriteString(mark.text)
			}
		}
		if e.ToolCall != nil {
			fmt.Fprintf(&b, " %s(%s) = %q done %v failed %v", e.ToolCall.Name, e.ToolCall.Arguments, e.ToolCall.Output, e.ToolCall.Done, e.ToolCall.Failed)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *story) problem(*datadriven.TestData) string {
	now := s.session.Snapshot()
	return "error: " + outcome(now.Err) + "\nmicrophone: " + outcome(now.MicErr)
}

func (s *story) progress(*datadriven.TestData) string {
	return "progress: " + s.session.Snapshot().Progress
}

// runs: shows the runs.
func (s *story) runs(*datadriven.TestData) string {
	var b strings.Builder
	for _, r := range s.session.Snapshot().Runs {
		fmt.Fprintf(&b, "%s %s %s progress %q", r.ID, r.Tool, r.Status, r.Progress)
		if r.Question != nil {
			fmt.Fprintf(&b, " question %+v", *r.Question)
		}
		if r.Result != nil {
			fmt.Fprintf(&b, " result %+v", *r.Result)
		}
		b.WriteByte('\n')
		for _, step := range r.Timeline {
			fmt.Fprintf(&b, "  %s %s %q\n", step.At, step.Kind, step.Text)
		}
	}
	return b.String()
}

// answer run=R [question=Q] [yes] [no]: approves or declines, replies with the input, or, without a question, cancels the run.
func (s *story) answer(c *datadriven.TestData) string {
	run, question := value(c, "run"), value(c, "question")
	switch {
	case question == "":
		return outcome(s.session.CancelRun(run))
	case c.HasArg("yes"), c.HasArg("no"):
		return outcome(s.session.ApproveRun(run, question, c.HasArg("yes")))
	}
	return outcome(s.session.ReplyRun(run, question, strings.TrimSpace(c.Input)))
}

func (s *story) call(*datadriven.TestData) string {
	now := s.session.Snapshot()
	return fmt.Sprintf("session %q model %q muted %v text only %v asked %v sound blocked %v microphone %q",
		now.SessionID, now.Model, now.Muted, now.TextOnly, now.MicAsked, now.SoundBlocked, now.Microphone)
}

// score: shows the figures about predictions.
func (s *story) score(*datadriven.TestData) string {
	return fmt.Sprintf("%+v", s.session.Snapshot().Interruptions)
}

func (s *story) turn(*datadriven.TestData) string {
	t := s.session.Snapshot().LastTurn
	if t == nil {
		return "none"
	}
	said := fmt.Sprintf("item %s response %s text %v sound %v end %v", t.ItemID, t.ResponseID, t.FirstText, t.FirstSound, t.PlaybackEnd)
	if t.Server != nil {
		said += fmt.Sprintf("\nserver %+v", *t.Server)
	}
	return said
}
