package web

// The middle of the page: the button, the state, the controls and the problem.

import (
	"strconv"

	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// stage shows the middle of the page: the button, the state of the call, the
// caption and the controls of the call.
func (p *Page) stage(s Snapshot) *ui.Node {
	return ui.New("section").Class("stage").Aria("label", "Call").Body(
		p.orb(s),
		ui.New("div").Class("status").Body(
			ui.New("p").ID("state").Role("status").Aria("live", "polite").
				Data("state", string(s.Phase)).Text(s.statusText()),
			// The caption takes the hint's place, so that nothing moves.
			// A screen reader hears the line when it is final (announced), and not each of its captions.
			ui.New("p").ID("caption").Text(s.Caption),
			ui.New("p").ID("hint").Text(s.hintText()),
		),
		p.controls(s),
		p.problem(s.Problem),
		latencyLine(s.Latency),
	)
}

func (p *Page) orb(s Snapshot) *ui.Node {
	talk := ui.New("button").ID("talk").Type("button").Aria("describedby", "state").Disabled(s.Phase == PhaseLoading)
	return ui.New("div").ID("orb").Class("orb").Body(
		ui.New("span").Class("choir choir-you").Aria("hidden", "true").Text("You"),
		ui.New("span").Class("choir choir-agent").Aria("hidden", "true").Text("Antiphon"),
		ui.New("canvas").ID("score").Class("score").Aria("hidden", "true"),
		ui.New("span").Class("halo").Aria("hidden", "true"),
		ui.New("span").Class("ring ring-you").Aria("hidden", "true"),
		ui.New("span").Class("ring ring-agent").Aria("hidden", "true"),
		ui.New("span").Class("orbit").Aria("hidden", "true"),
		talk.OnClick(p.onTalk).Body(
			p.talkIcon(s),
			ui.New("span").Class("talk-label").Text(s.talkLabel()),
		),
	)
}

func (p *Page) talkIcon(s Snapshot) *ui.Node {
	if s.Phase.InCall() {
		return icon(iconEnd)
	}
	return icon(iconMic)
}

func (p *Page) onTalk() {
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
func (p *Page) controls(s Snapshot) *ui.Node {
	mute := ui.New("button").ID("mute").Class("control").Type("button").
		DataFlag("muted", s.Muted).Aria("keyshortcuts", "M").Disabled(!s.canSpeak())
	interrupt := ui.New("button").ID("interrupt").Class("control").Type("button").
		Aria("keyshortcuts", "Escape").Disabled(!s.canInterrupt())
	muteWord, muteIcon := "Mute", iconMic
	if s.Muted {
		muteWord, muteIcon = "Unmute", iconMicOff
	}
	mute.OnClick(p.onMute).Body(icon(muteIcon), ui.New("span").Text(muteWord))
	if s.ByHand { // web/page/settings.js sees how long the user holds it
		mute = ui.New("button").ID("hold").Class("control").Type("button").Aria("keyshortcuts", "Space").
			Aria("pressed", strconv.FormatBool(!s.Muted)).Disabled(!s.canSpeak()).
			Body(icon(iconMic), ui.New("span").Text("Hold to talk"))
	}
	return ui.New("div").Class("controls").Role("group").Aria("label", "Call controls").Body(
		mute,
		ui.New("div").ID("mic-level").Class("meter").Role("meter").Aria("label", "Microphone level").
			Aria("valuemin", "0").Aria("valuemax", "100").Aria("valuenow", "0").
			Body(ui.New("span").Class("meter-bar")),
		interrupt.OnClick(p.onInterrupt).Body(icon(iconInterrupt), ui.New("span").Text("Interrupt")),
	)
}

func (p *Page) onMute() {
	p.act(func(d Driver) { d.Mute(!p.shown.Muted) })
}

func (p *Page) onInterrupt() {
	p.act(func(d Driver) { d.Interrupt() })
}

// problem shows the problem. Its element stays in the page when there is no
// problem, because screen readers read an alert when it changes, not when it
// appears.
func (p *Page) problem(pr *Problem) *ui.Node {
	box := ui.New("div").ID("error").Class("problem").Role("alert")
	if pr == nil {
		return box.Data("kind", "none")
	}
	return box.Data("kind", string(pr.Kind)).Body(
		ui.New("div").Class("problem-text").Body(
			ui.New("p").Class("problem-title").Text(pr.Title),
			ui.New("p").Text(pr.Advice),
			ui.If(pr.Detail != "", func() *ui.Node {
				return ui.New("p").Class("problem-detail").Text(pr.Detail)
			}),
		),
		ui.If(!pr.Kind.lasts(), func() *ui.Node {
			return ui.New("button").ID("dismiss").Class("bare").Type("button").Aria("label", "Close this message").
				OnClick(p.onDismiss).Body(icon(iconClose))
		}),
		ui.If(pr.Remedy != remedyNone, func() *ui.Node { return p.remedy(pr.Remedy) }),
	)
}

func (p *Page) remedy(r Remedy) *ui.Node {
	button := ui.New("button").ID("remedy").Class("control strong").Text(remedyLabels[r])
	if r != remedyKey {
		return ui.New("div").Class("remedy").Body(button.Type("button").OnClick(p.onRemedy))
	}
	return ui.New("form").Class("remedy").OnSubmit(p.onKey).Body(
		ui.New("label").Class("unseen").For("key").Text("Key"),
		ui.New("input").ID("key").Type("password").Attr("autocomplete", "off").Attr("placeholder", "Key"),
		button.Type("submit"),
	)
}

func (p *Page) onDismiss() { p.act(Driver.Dismiss) }

func (p *Page) onRemedy() {
	if p.shown.Problem == nil {
		return
	}
	switch p.shown.Problem.Remedy {
	case remedyRetry:
		p.act(Driver.Talk)
	case remedyMic:
		p.act(Driver.RetryMicrophone)
	case remedyPlay:
		p.act(Driver.Play)
	case remedyKey, remedyNone:
	}
}

func (p *Page) onKey() {
	if key := p.screen.TakeValue("key"); key != "" {
		p.act(func(d Driver) { d.UseKey(key) })
	}
}

// latencyLine shows how the time of the last answer was spent.
func latencyLine(l Latency) *ui.Node {
	line := ui.New("p").ID("latency").Class("latency")
	if l.Text() == "" {
		return line
	}
	return line.Data("ms", strconv.Itoa(l.Total)).Body(
		ui.New("span").Text(l.Text()),
		ui.If(l.Detail() != "", func() *ui.Node {
			return ui.New("span").Class("latency-parts").Text(l.Detail())
		}),
		ui.If(l.Detail() != "", func() *ui.Node { return stacked(l) }),
	)
}
