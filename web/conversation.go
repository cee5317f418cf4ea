package web

// The conversation: the transcript, the suggestions and the field to write in.

import (
	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// conversation shows the transcript of both sides and the text field.
func (p *Page) conversation(s Snapshot) *ui.Node {
	lines := s.visibleLines()
	return ui.New("section").Class("conversation").Aria("labelledby", "conversation-title").Body(
		ui.New("div").Class("conversation-head").Body(
			ui.New("h2").ID("conversation-title").Text("Conversation"),
			ui.If(len(lines) > 0, func() *ui.Node {
				return ui.New("div").Class("conversation-tools").Body( // what they do is in web/page/transcript.js
					ui.New("button").ID("copy-transcript").Class("bare").Type("button").Aria("label", "Copy the transcript").Body(icon(iconCopy)),
					ui.New("button").ID("save-transcript").Class("bare").Type("button").Aria("label", "Download the transcript").Body(icon(iconSave)),
				)
			}),
		),
		ui.New("div").ID("scroll").Class("scroll").TabIndex(0).Role("region").
			Aria("label", "Transcript").OnScroll(p.onScroll).Body(
			ui.If(len(lines) == 0, func() *ui.Node { return p.suggestions(s) }),
			ui.If(s.Trimmed, func() *ui.Node {
				return ui.New("p").Class("note").Text("Earlier lines are no longer shown.")
			}),
			ui.New("ol").ID("transcript").Class("transcript").Body(
				ui.Each(len(lines), func(i int) *ui.Node { return p.line(lines[i]) }),
			),
		),
		announced(s),
		p.runs(s),
		p.composer(s),
	)
}

// announced has the newest final lines for a screen reader, which reads a line when it comes: what was understood of the user's speech, and in a call
// without a microphone what the agent has said. In a call with one the user hears the agent, and the microphone would hear the screen reader.
func announced(s Snapshot) *ui.Node {
	const newest = 3
	list := ui.New("div").ID("announced").Class("unseen").Role("log").Aria("label", "Newest lines")
	for _, l := range s.Lines[max(0, len(s.Lines)-newest):] {
		if !l.Live && l.Coming == "" && (l.Role == RoleUser || s.TextOnly) {
			list.Body(ui.New("p").Key(l.ID).Text(l.who() + ": " + l.words()))
		}
	}
	return list
}

// lineNode is a line with the node that shows it.
type lineNode struct {
	line Line
	node *ui.Node
}

// line returns the node that shows a line. A line that has not changed keeps its node, so that only changed lines are written again.
func (p *Page) line(l Line) *ui.Node {
	if kept, ok := p.lines[l.ID]; ok && kept.line == l {
		return kept.node
	}
	node := showLine(l)
	p.lines[l.ID] = lineNode{l, node}
	return node
}

func showLine(l Line) *ui.Node {
	return ui.New("li").Key(l.ID).Class("line").
		Data("role", string(l.Role)).
		Data("item", l.ID).
		DataFlag("interrupted", l.Interrupted).
		DataFlag("live", l.Live).
		Body(
			ui.New("span").Class("who").Text(l.who()),
			ui.New("div").Class("words").Body(
				ui.New("span").Class("said").Text(l.words()),
				ui.If(l.Coming != "", func() *ui.Node {
					return ui.New("span").Class("coming").Text(l.Coming)
				}),
				ui.If(l.Interrupted, func() *ui.Node {
					return ui.New("span").Class("cut").Text(l.cutMark())
				}),
				ui.If(l.Note != "", func() *ui.Node {
					return ui.New("span").Class("note").Text(l.Note)
				}),
			),
		)
}

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
	case l.Text != "", l.Coming != "":
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

// suggestions are sentences that a new user can say.
var suggestions = []string{"What is two plus two?", "Tell me a story.", "Count to one hundred.", "Help"}

func (p *Page) suggestions(s Snapshot) *ui.Node {
	list := ui.New("ul").Class("suggestions")
	if s.Phase != PhaseLoading {
		list.Body(ui.Each(len(suggestions), func(i int) *ui.Node {
			say := func() { p.act(func(d Driver) { d.Say(suggestions[i]) }) }
			return ui.New("li").Body(ui.New("button").Class("suggestion").Type("button").Text(suggestions[i]).OnClick(say))
		}))
	}
	return ui.New("div").Class("empty").Body(
		ui.New("p").Text("Nothing has been said yet. Ask something, then cut the answer short: "+
			"what you did not hear is not remembered."),
		list,
		ui.If(s.Pipeline.builtIn(), func() *ui.Node {
			return ui.New("div").Class("built-in").Body(
				ui.New("p").Text("The built-in assistant answers: it counts, does sums, tells the time and stories, and repeats what you say. "+
					"For all else, attach a language model where the server runs:"),
				p.install("antiphon setup"),
			)
		}),
	)
}

func (p *Page) composer(s Snapshot) *ui.Node {
	send := ui.New("button").ID("send").Class("send").Type("submit").Aria("label", "Send").Disabled(s.Phase == PhaseLoading)
	return ui.New("form").Class("composer").OnSubmit(p.onSend).Body(
		ui.New("label").Class("unseen").For("text").Text("Write a message"),
		ui.New("input").ID("text").Type("text").Attr("autocomplete", "off").Attr("maxlength", "4000").
			Attr("placeholder", "Write a message").Attr("enterkeyhint", "send"),
		send.Body(icon(iconSend)),
	)
}

func (p *Page) onSend() {
	if text := p.screen.TakeValue("text"); text != "" {
		p.act(func(d Driver) { d.Say(text) })
	}
}
