package web

// The conversation: the transcript, the suggestions and the field to write in.

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// conversation shows the transcript of both sides and the text field.
func (p *Page) conversation(s Snapshot) app.UI {
	lines := s.visibleLines()
	// The user hears a spoken answer, so a screen reader must not read it out as well.
	live := "off"
	if s.TextOnly {
		live = "polite"
	}
	return app.Section().Class("conversation").Aria("labelledby", "conversation-title").Body(
		app.H2().ID("conversation-title").Text("Conversation"),
		app.Div().ID("scroll").Class("scroll").TabIndex(0).Role("region").
			Aria("label", "Transcript").OnScroll(p.onScroll, app.PassiveEvent()).Body(
			app.If(len(lines) == 0, func() app.UI { return p.suggestions(s) }),
			app.If(s.Trimmed, func() app.UI {
				return app.P().Class("note").Text("Earlier lines are no longer shown.")
			}),
			app.Ol().ID("transcript").Class("transcript").Aria("live", live).Body(
				app.Range(lines).Slice(func(i int) app.UI { return &lineView{Line: lines[i]} }),
			),
		),
		p.runs(s),
		p.composer(s),
	)
}

// lineView shows one line. It is a component so that only lines that changed
// are rendered again.
type lineView struct {
	app.Compo

	Line Line
}

// Render shows the line.
func (v *lineView) Render() app.UI {
	l := v.Line
	return app.Li().Class("line").
		DataSet("role", string(l.Role)).
		DataSet("item", l.ID).
		DataSet("interrupted", strconv.FormatBool(l.Interrupted)).
		DataSet("live", strconv.FormatBool(l.Live)).
		Aria("busy", strconv.FormatBool(l.Live)).
		Body(
			app.Span().Class("who").Text(l.who()),
			app.Div().Class("words").Body(
				app.Span().Class("said").Text(l.words()),
				app.If(l.Interrupted, func() app.UI {
					return app.Span().Class("cut").Text(l.cutMark())
				}),
				app.If(l.Note != "", func() app.UI {
					return app.Span().Class("note").Text(l.Note)
				}),
			),
		)
}

// CompoID ties a line to its element, so that lines which leave the top do not
// make every other one be written again.
func (v *lineView) CompoID() string { return v.Line.ID }

func (l Line) who() string {
	switch l.Role {
	case RoleUser:
		return "You"
	case RoleTool:
		return "Tool"
	case RoleAgent:
	}
	return "Antiphon"
}

// words returns the text of a line, or a mark where the words are still to come
// or have never come.
func (l Line) words() string {
	switch {
	case l.Text != "":
		return l.Text
	case l.Live:
		return "…"
	case l.Interrupted, l.Note != "":
		return ""
	case l.Failed && l.Role == RoleUser:
		return "(not understood)"
	case l.Failed:
		return "(no answer)"
	default:
		return "(no words)"
	}
}

// cutMark returns the mark after the last word that was heard.
func (l Line) cutMark() string {
	if l.Text == "" {
		return "interrupted before a word was heard"
	}
	return "interrupted"
}

// suggestion is a sentence that a new user can say, as a button.
type suggestion struct {
	app.Compo

	Text string
	say  func(string)
}

// Render shows the suggestion as a button that says it.
func (v *suggestion) Render() app.UI {
	return app.Li().Body(app.Button().Class("suggestion").Type("button").Text(v.Text).OnClick(v.onClick))
}

func (v *suggestion) onClick(app.Context, app.Event) { v.say(v.Text) }

func (p *Page) suggestions(s Snapshot) app.UI {
	say := func(text string) { p.act(func(d Driver) { d.Say(text) }) }
	list := app.Ul().Class("suggestions")
	if s.Phase != PhaseLoading {
		list = list.Body(
			&suggestion{Text: "What is two plus two?", say: say},
			&suggestion{Text: "Tell me a story.", say: say},
			&suggestion{Text: "Count to one hundred.", say: say},
		)
	}
	return app.Div().Class("empty").Body(
		app.P().Text("Nothing has been said yet. Ask something, then cut the answer short: "+
			"what you did not hear is not remembered."),
		list,
	)
}

func (p *Page) composer(s Snapshot) app.UI {
	send := app.Button().ID("send").Class("send").Type("submit").Aria("label", "Send")
	if s.Phase == PhaseLoading {
		send = send.Disabled(true)
	}
	return app.Form().Class("composer").OnSubmit(p.onSend).Body(
		app.Label().Class("unseen").For("text").Text("Write a message"),
		app.Input().ID("text").Type("text").AutoComplete(false).MaxLength(4000).
			Placeholder("Write a message").Attr("enterkeyhint", "send"),
		send.Body(icon(iconSend)),
	)
}

func (p *Page) onSend(_ app.Context, e app.Event) {
	e.PreventDefault()
	if text := takeValue("text"); text != "" {
		p.act(func(d Driver) { d.Say(text) })
	}
}
