package web

// The middle of the page: the button, the state, the controls and the problem.

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// stage shows the middle of the page: the button, the state of the call, the
// caption and the controls of the call.
func (p *Page) stage(s Snapshot) app.UI {
	return app.Section().Class("stage").Aria("label", "Call").Body(
		p.orb(s),
		app.Div().Class("status").Body(
			app.P().ID("state").Role("status").Aria("live", "polite").
				DataSet("state", string(s.Phase)).Text(s.statusText()),
			// The caption takes the hint's place, so that nothing moves.
			app.P().ID("caption").Aria("live", "polite").Text(s.Caption),
			app.P().ID("hint").Text(s.hintText()),
		),
		p.controls(s),
		p.problem(s.Problem),
		latencyLine(s.Latency),
	)
}

func (p *Page) orb(s Snapshot) app.UI {
	talk := app.Button().ID("talk").Type("button").Aria("describedby", "state")
	if s.Phase == PhaseLoading {
		talk = talk.Disabled(true)
	}
	return app.Div().ID("orb").Class("orb").Body(
		app.Span().Class("choir choir-you").Aria("hidden", "true").Text("You"),
		app.Span().Class("choir choir-agent").Aria("hidden", "true").Text("Antiphon"),
		app.Canvas().ID("score").Class("score").Aria("hidden", "true"),
		app.Span().Class("halo").Aria("hidden", "true"),
		app.Span().Class("ring ring-you").Aria("hidden", "true"),
		app.Span().Class("ring ring-agent").Aria("hidden", "true"),
		app.Span().Class("orbit").Aria("hidden", "true"),
		talk.OnClick(p.onTalk).Body(
			p.talkIcon(s),
			app.Span().Class("talk-label").Text(s.talkLabel()),
		),
	)
}

func (p *Page) talkIcon(s Snapshot) app.UI {
	if s.Phase.InCall() {
		return icon(iconEnd)
	}
	return icon(iconMic)
}

func (p *Page) onTalk(app.Context, app.Event) {
	p.act(func(d Driver) {
		if p.shown.Phase.InCall() {
			d.End()
			return
		}
		d.Talk()
	})
}

// controls shows the controls of a call. They are always in the page, so that
// nothing moves when a call begins; outside a call they are disabled.
func (p *Page) controls(s Snapshot) app.UI {
	mute := app.Button().ID("mute").Class("control").Type("button").
		DataSet("muted", strconv.FormatBool(s.Muted)).Aria("keyshortcuts", "M")
	if !s.Phase.InCall() || s.TextOnly {
		mute = mute.Disabled(true)
	}
	interrupt := app.Button().ID("interrupt").Class("control").Type("button").
		Aria("keyshortcuts", "Escape")
	if !s.canInterrupt() {
		interrupt = interrupt.Disabled(true)
	}
	muteWord, muteIcon := "Mute", iconMic
	if s.Muted {
		muteWord, muteIcon = "Unmute", iconMicOff
	}
	return app.Div().Class("controls").Role("group").Aria("label", "Call controls").Body(
		mute.OnClick(p.onMute).Body(icon(muteIcon), app.Span().Text(muteWord)),
		app.Div().ID("mic-level").Class("meter").Role("meter").Aria("label", "Microphone level").
			Aria("valuemin", "0").Aria("valuemax", "100").Aria("valuenow", "0").
			Body(app.Span().Class("meter-bar")),
		interrupt.OnClick(p.onInterrupt).Body(icon(iconInterrupt), app.Span().Text("Interrupt")),
	)
}

func (p *Page) onMute(app.Context, app.Event) {
	p.act(func(d Driver) { d.Mute(!p.shown.Muted) })
}

func (p *Page) onInterrupt(app.Context, app.Event) {
	p.act(func(d Driver) { d.Interrupt() })
}

// problem shows the problem. Its element stays in the page when there is no
// problem, because screen readers read an alert when it changes, not when it
// appears.
func (p *Page) problem(pr *Problem) app.UI {
	box := app.Div().ID("error").Class("problem").Role("alert")
	if pr == nil {
		return box.DataSet("kind", "none")
	}
	return box.DataSet("kind", string(pr.Kind)).Body(
		app.Div().Class("problem-text").Body(
			app.P().Class("problem-title").Text(pr.Title),
			app.P().Text(pr.Advice),
			app.If(pr.Detail != "", func() app.UI {
				return app.P().Class("problem-detail").Text(pr.Detail)
			}),
		),
		app.Button().ID("dismiss").Class("bare").Type("button").Aria("label", "Close this message").
			OnClick(p.onDismiss).Body(icon(iconClose)),
		app.If(pr.Remedy != RemedyNone, func() app.UI { return p.remedy(pr.Remedy) }),
	)
}

func (p *Page) remedy(r Remedy) app.UI {
	button := app.Button().ID("remedy").Class("control strong").Text(remedyLabel(r))
	if r != RemedyKey {
		return app.Div().Class("remedy").Body(button.Type("button").OnClick(p.onRemedy))
	}
	return app.Form().Class("remedy").OnSubmit(p.onKey).Body(
		app.Label().Class("unseen").For("key").Text("Key"),
		app.Input().ID("key").Type("password").AutoComplete(false).Placeholder("Key"),
		button.Type("submit"),
	)
}

func (p *Page) onDismiss(app.Context, app.Event) { p.act(Driver.Dismiss) }

func (p *Page) onRemedy(app.Context, app.Event) {
	if p.shown.Problem == nil {
		return
	}
	switch p.shown.Problem.Remedy {
	case RemedyRetry:
		p.act(Driver.Talk)
	case RemedyMic:
		p.act(Driver.RetryMicrophone)
	case RemedyPlay:
		p.act(Driver.Play)
	case RemedyKey, RemedyNone:
	}
}

func (p *Page) onKey(_ app.Context, e app.Event) {
	e.PreventDefault()
	if key := takeValue("key"); key != "" {
		p.act(func(d Driver) { d.UseKey(key) })
	}
}

// latencyLine shows how the time of the last answer was spent.
func latencyLine(l Latency) app.UI {
	line := app.P().ID("latency").Class("latency")
	if l.Text() == "" {
		return line
	}
	return line.DataSet("ms", strconv.Itoa(l.Total)).Body(
		app.Span().Text(l.Text()),
		app.If(l.Detail() != "", func() app.UI {
			return app.Span().Class("latency-parts").Text(l.Detail())
		}),
	)
}
