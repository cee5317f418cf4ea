package page

// One call of the page: carries out the script's commands on an SDK session and reports its events.

import (
	"context"
	"math"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/browser"
)

// call is one call of the page.
type call struct {
	session *sdk.Session
	dialer  *browser.Dialer
	sink    js.Value
	do      browser.Func
	writer  writer
	tools   toolCalls
	unsub   []func()
}

// newCall begins a call that reports to sink. "ready" reports that the call is connected, or the error.
func newCall(options, begun, sink js.Value) (*call, error) {
	c := &call{sink: sink}
	c.tools.tell = c.tell
	c.dialer = browser.New(browser.Options{
		URL: field(options, "url"), Key: field(options, "key"), Worklet: field(options, "worklet"), Audio: options.Get("audio"),
		Stream: options.Get("mediaStream"), ICEServers: options.Get("iceServers"), Begun: begun,
		WebSocket: field(options, "transport") == "websocket",
		Log:       func(line string) { c.tell("note", line) },
	})
	var err error
	if c.session, err = sdk.New(c.options(options)); err != nil {
		return nil, err
	}
	if kind := field(options, "noiseReduction"); kind != "" {
		if err = c.session.Update(sdk.Patch{NoiseReduction: &kind}); err != nil {
			return nil, err
		}
	}
	c.do = browser.NewFunc(c.command)
	c.unsub = []func(){
		c.session.Subscribe(func(s sdk.Snapshot) { c.tell("snapshot", string(c.writer.snapshot(s))) }),
		c.session.SubscribeLevels(func(l sdk.Levels) { c.tell("levels", l.Mic, l.Agent) }),
	}
	go func() { c.answer("ready", 0, c.session.Connect(context.Background())) }()
	return c, nil
}

func (c *call) options(o js.Value) sdk.Options {
	microphone := o.Get("microphone")
	s := sdk.Options{
		Dialer: c.dialer, Model: field(o, "model"), Instructions: field(o, "instructions"), Voice: field(o, "voice"),
		Language: field(o, "language"), TextReplies: truthy(o, "textReplies"), Muted: truthy(o, "muted"), TakeBack: truthy(o, "takeBack"),
		Microphone: field(o, "microphone"), Speaker: field(o, "speaker"),
		NoMicrophone: microphone.Type() == js.TypeBoolean && !microphone.Bool(), NoPrediction: o.Get("prediction").Equal(js.ValueOf(false)),
		Log: func(line string) { c.tell("note", line) },
	}
	if by := o.Get("duckBy"); there(by) {
		s.DuckBy = math.NaN() // sdk.New refuses what is no number, and 0
		if by.Type() == js.TypeNumber && by.Float() != 0 {
			s.DuckBy = by.Float()
		}
	}
	if d := o.Get("turnDetection"); there(d) {
		s.TurnDetection = &sdk.TurnDetection{
			Manual: field(d, "type") == "manual", Semantic: field(d, "type") == "semantic", Eagerness: field(d, "eagerness"),
			NoInterrupt: truthy(d, "noInterrupt"),
		}
	}
	s.Tools = c.tools.list(o.Get("tools"))
	return s
}

// tell reports an event to the script.
func (c *call) tell(kind string, args ...any) {
	c.sink.Invoke(append([]any{kind}, args...)...)
}

// answer reports the end of a command that took time, with its error if there is one.
func (c *call) answer(kind string, token int, err error) {
	if err == nil {
		c.tell(kind, token)
		return
	}
	c.tell(kind, token, errorText(err))
}

// command carries out a command of the script: do(name, ...). It returns nothing, or the JSON text of an error; for inspect it returns
// the JSON text of the inspection.
func (c *call) command(args []js.Value) any {
	var err error
	switch name := args[0].String(); name {
	case "send":
		err = c.session.SendText(args[1].String())
	case "interrupt":
		err = c.session.Interrupt()
	case "commit":
		err = c.session.Commit()
	case "mute":
		c.session.SetMuted(args[1].Truthy())
	case "image":
		err = c.session.SendImage(args[1].String(), args[2].String())
	case "approve":
		err = c.session.ApproveRun(args[1].String(), args[2].String(), args[3].Truthy())
	case "reply":
		err = c.session.ReplyRun(args[1].String(), args[2].String(), args[3].String())
	case "cancel":
		err = c.session.CancelRun(args[1].String())
	case "talk":
		err = c.session.StartTalking()
	case "talked":
		c.session.StopTalking()
	case "volume":
		err = c.session.SetVolume(float32(args[1].Float()))
	case "resume":
		c.session.ResumeSound()
	case "dismiss":
		c.session.DismissError()
	case "inspect":
		return string(inspection(c.session.Inspect()))
	case "tool":
		c.tools.ran(args[1].Int(), args[2].String(), args[3].Truthy())
	default:
		c.later(name, args[1].Int(), args[2])
		return nil
	}
	if err != nil {
		return errorText(err)
	}
	return nil
}

// later starts a command that takes time: do(name, token, argument). It reports "done" with the token when the command has ended.
func (c *call) later(name string, token int, argument js.Value) {
	ctx := context.Background() // the end of the call ends every command
	go func() {
		var err error
		switch name {
		case "microphone":
			err = c.session.SetMicrophone(ctx, argument.String())
		case "speaker":
			err = c.session.SetSpeaker(ctx, argument.String())
		case "devices":
			err = c.session.RefreshDevices(ctx)
		case "close":
			err = c.session.Close(ctx)
			for _, cancel := range c.unsub {
				cancel()
			}
			c.do.Release()
		}
		c.answer("done", token, err)
	}()
}
