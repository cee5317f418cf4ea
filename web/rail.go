package web

// The right-hand column: the pipeline, the devices and the keys.

import (
	"strconv"

	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// pipeline shows the parts of the server's pipeline.
func (p *Page) pipeline(pl Pipeline) *ui.Node {
	return ui.New("section").Class("panel").Aria("labelledby", "pipeline-title").Body(
		ui.New("h2").ID("pipeline-title").Body(
			ui.New("span").Text("Pipeline"),
			ui.If(pl.Name != "", func() *ui.Node {
				return ui.New("span").ID("pipeline-name").Class("tag").Text(pl.Name)
			}),
		),
		ui.New("ol").ID("components").Class("components").Body(
			ui.Each(len(pl.Components), func(i int) *ui.Node { return p.component(pl.Components[i]) }),
		),
		ui.If(pl.note() != "", func() *ui.Node {
			return ui.New("p").Class("faint").Text(pl.note())
		}),
	)
}

// note says why the list is empty or not up to date.
func (p Pipeline) note() string {
	switch {
	case p.Keyed:
		return "The server tells it with the key."
	case p.Unreachable:
		return "The server does not answer just now."
	case len(p.Components) == 0:
		return "Asking the server …"
	default:
		return ""
	}
}

func (p *Page) component(c Component) *ui.Node {
	return ui.New("li").Data("state", string(c.State)).Data("stage", c.Stage).Body(
		ui.New("div").Class("component-head").Body(
			ui.New("span").Class("component-stage").Text(stageName(c.Stage)),
			ui.New("span").Class("component-state").Text(string(c.State)),
		),
		ui.New("p").Class("component-name").Text(c.Name),
		ui.If(c.Detail != "", func() *ui.Node {
			return ui.New("p").Class("component-detail").Text(c.Detail)
		}),
		ui.If(c.Install != "", func() *ui.Node { return p.install(c.Install) }),
	)
}

// install shows the command that gets a missing part, with a button that copies
// it.
func (p *Page) install(command string) *ui.Node {
	word, picture := "Copy the command", iconCopy
	if p.copied == command {
		word, picture = "Copied", iconDone
	}
	return ui.New("div").Class("install").Body(
		ui.New("code").Text(command),
		ui.New("button").Class("bare copy").Type("button").Aria("label", word).
			DataFlag("copied", p.copied == command).
			OnClick(func() { p.copy(command) }).Body(icon(picture)),
	)
}

// copy copies a command, and shows that it did.
func (p *Page) copy(command string) {
	if p.screen.Copy(command) {
		p.copied = command
		p.update()
	}
}

// devices shows the choices of microphone and loudspeaker.
func (p *Page) devices(d Devices) *ui.Node {
	return ui.New("section").Class("panel").Aria("labelledby", "devices-title").Body(
		ui.New("h2").ID("devices-title").Text("Sound"),
		deviceField("microphone", "Microphone", d.Microphones, d.Microphone, p.onMicrophone),
		ui.If(len(d.Speakers) > 0, func() *ui.Node {
			return deviceField("speaker", "Loudspeaker", d.Speakers, d.Speaker, p.onSpeaker)
		}),
	)
}

func deviceField(id, label string, devices []Device, chosen string, change func(string)) *ui.Node {
	return ui.New("div").Class("field").Body(
		ui.New("label").For(id).Text(label),
		ui.New("select").ID(id).OnChange(change).Body(
			deviceOption(Device{Label: "The browser's default"}, chosen),
			ui.Each(len(devices), func(i int) *ui.Node {
				d := devices[i]
				if d.Label == "" {
					d.Label = label + " " + strconv.Itoa(i+1)
				}
				return deviceOption(d, chosen)
			}),
		),
	)
}

func deviceOption(d Device, chosen string) *ui.Node {
	return ui.New("option").Attr("value", d.ID).Text(d.Label).Selected(d.ID == chosen)
}

func (p *Page) onMicrophone(id string) {
	p.act(func(d Driver) { d.UseMicrophone(id) })
}

func (p *Page) onSpeaker(id string) {
	p.act(func(d Driver) { d.UseSpeaker(id) })
}

// keys shows the keyboard shortcuts.
func (p *Page) keys(byHand bool) *ui.Node {
	key, does := "M", "mutes and unmutes"
	if byHand {
		key, does = "Space", "talks while you hold it"
	}
	return ui.New("section").Class("panel keys").Aria("labelledby", "keys-title").Body(
		ui.New("h2").ID("keys-title").Text("Keys"),
		ui.New("dl").Body(
			ui.New("dt").Body(ui.New("kbd").Text("Esc")), ui.New("dd").Text("interrupts the answer"),
			ui.New("dt").Body(ui.New("kbd").Text(key)), ui.New("dd").Text(does),
			ui.New("dt").Body(ui.New("kbd").Text("Enter")), ui.New("dd").Text("sends what you wrote"),
		),
	)
}
