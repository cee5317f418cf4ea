package web

// The right-hand column: the pipeline, the devices and the keys.

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// pipeline shows the parts of the server's pipeline.
func (p *Page) pipeline(pl Pipeline) app.UI {
	return app.Section().Class("panel").Aria("labelledby", "pipeline-title").Body(
		app.H2().ID("pipeline-title").Body(
			app.Span().Text("Pipeline"),
			app.If(pl.Name != "", func() app.UI {
				return app.Span().ID("pipeline-name").Class("tag").Text(pl.Name)
			}),
		),
		app.Ol().ID("components").Class("components").Body(
			app.Range(pl.Components).Slice(func(i int) app.UI { return componentItem(pl.Components[i]) }),
		),
		app.If(pl.note() != "", func() app.UI {
			return app.P().Class("faint").Text(pl.note())
		}),
	)
}

// note says why the list is empty or not up to date.
func (p Pipeline) note() string {
	switch {
	case p.Unreachable:
		return "The server does not answer just now."
	case len(p.Components) == 0:
		return "Asking the server …"
	default:
		return ""
	}
}

func componentItem(c Component) app.UI {
	return app.Li().DataSet("state", string(c.State)).DataSet("stage", c.Stage).Body(
		app.Div().Class("component-head").Body(
			app.Span().Class("component-stage").Text(stageName(c.Stage)),
			app.Span().Class("component-state").Text(stateName(c.State)),
		),
		app.P().Class("component-name").Text(c.Name),
		app.If(c.Detail != "", func() app.UI {
			return app.P().Class("component-detail").Text(c.Detail)
		}),
		app.If(c.Install != "", func() app.UI { return &install{Command: c.Install} }),
	)
}

// install shows the command that gets a missing part, with a button that copies
// it.
type install struct {
	app.Compo

	Command string
	copied  bool
}

// Render shows the command.
func (v *install) Render() app.UI {
	word, picture := "Copy the command", iconCopy
	if v.copied {
		word, picture = "Copied", iconDone
	}
	return app.Div().Class("install").Body(
		app.Code().Text(v.Command),
		app.Button().Class("bare copy").Type("button").Aria("label", word).
			DataSet("copied", strconv.FormatBool(v.copied)).
			OnClick(v.onCopy).Body(icon(picture)),
	)
}

func (v *install) onCopy(app.Context, app.Event) {
	v.copied = copyText(v.Command)
}

// OnUpdate forgets that another command was copied.
func (v *install) OnUpdate(app.Context) { v.copied = false }

// devices shows the choices of microphone and loudspeaker.
func (p *Page) devices(d Devices) app.UI {
	return app.Section().Class("panel").Aria("labelledby", "devices-title").Body(
		app.H2().ID("devices-title").Text("Sound"),
		deviceField("microphone", "Microphone", d.Microphones, d.Microphone, p.onMicrophone),
		app.If(len(d.Speakers) > 0, func() app.UI {
			return deviceField("speaker", "Loudspeaker", d.Speakers, d.Speaker, p.onSpeaker)
		}),
	)
}

func deviceField(id, label string, devices []Device, chosen string, change app.EventHandler) app.UI {
	return app.Div().Class("field").Body(
		app.Label().For(id).Text(label),
		app.Select().ID(id).OnChange(change).Body(
			deviceOption(Device{Label: "The browser's default"}, chosen),
			app.Range(devices).Slice(func(i int) app.UI {
				d := devices[i]
				if d.Label == "" {
					d.Label = label + " " + strconv.Itoa(i+1)
				}
				return deviceOption(d, chosen)
			}),
		),
	)
}

func deviceOption(d Device, chosen string) app.UI {
	o := app.Option().Value(d.ID).Text(d.Label)
	if d.ID == chosen {
		o = o.Selected(true)
	}
	return o
}

func (p *Page) onMicrophone(ctx app.Context, _ app.Event) {
	id := ctx.JSSrc().Get("value").String()
	p.act(func(d Driver) { d.UseMicrophone(id) })
}

func (p *Page) onSpeaker(ctx app.Context, _ app.Event) {
	id := ctx.JSSrc().Get("value").String()
	p.act(func(d Driver) { d.UseSpeaker(id) })
}

// keys shows the keyboard shortcuts.
func (p *Page) keys() app.UI {
	return app.Section().Class("panel keys").Aria("labelledby", "keys-title").Body(
		app.H2().ID("keys-title").Text("Keys"),
		app.Dl().Body(
			app.Dt().Body(app.Kbd().Text("Esc")), app.Dd().Text("interrupts the answer"),
			app.Dt().Body(app.Kbd().Text("M")), app.Dd().Text("mutes and unmutes"),
			app.Dt().Body(app.Kbd().Text("Enter")), app.Dd().Text("sends what you wrote"),
		),
	)
}
