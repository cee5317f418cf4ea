package web

// The page: what it shows, and what its buttons do.

import (
	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// Page is the Talk page. Without a driver it is the static page that the server
// sends first. It is used on one goroutine.
type Page struct {
	driver Driver
	shown  Snapshot
	lines  map[string]lineNode // the lines as they were rendered last, by their ids
	copied string              // the command that was copied last
	away   bool                // the user has scrolled back and reads older lines
	screen screen              // where the page is shown; nil for a static page
}

// screen shows the page in a document, and knows its elements by their ids.
type screen interface {
	Show(n *ui.Node)
	// AtEnd reports whether the end of a scrolled element is in sight, and ToEnd brings it there.
	AtEnd(id string) bool
	ToEnd(id string)
	// TakeValue empties a field and returns what was in it, without the spaces around it.
	TakeValue(id string) string
	// Focus moves the keyboard's focus to an element.
	Focus(id string)
	// Copy puts text on the clipboard, and reports whether the browser has one for this page: on an insecure address it has none.
	Copy(text string) bool
}

// NewPage makes a page with a driver. A nil driver makes a static page of s.
func NewPage(d Driver, s Snapshot) *Page {
	return &Page{driver: d, shown: s, lines: map[string]lineNode{}}
}

// update shows the page as it is now.
func (p *Page) update() { p.screen.Show(p.render()) }

func (p *Page) onScroll() { p.away = len(p.shown.Lines) > 0 && !p.screen.AtEnd("scroll") }

// render shows the snapshot.
func (p *Page) render() *ui.Node {
	s := p.shown
	p.forgetLines()
	return ui.New("div").ID("page").Class("page").
		Data("state", string(s.Phase)).
		DataFlag("muted", s.Muted).
		DataFlag("text-only", s.TextOnly).
		Body(
			masthead(),
			ui.If(s.Phase == PhaseLoading, func() *ui.Node {
				return ui.New("noscript").Text("This page is a program: it needs JavaScript and WebAssembly.")
			}),
			ui.New("main").Class("desk").Body(
				p.stage(s),
				p.conversation(s),
				ui.New("aside").Class("rail").Aria("label", "Equipment").Body(
					p.pipeline(s.Pipeline),
					p.devices(s.Devices),
					p.inspector(s.Inside, s.Latency),
					p.keys(s.ByHand),
				),
			),
		)
}

// forgetLines lets go of lines that are no longer shown, when there are many.
func (p *Page) forgetLines() {
	if len(p.lines) > 2*MaxLines {
		clear(p.lines)
	}
}

func masthead() *ui.Node {
	return ui.New("header").Class("masthead").Body(
		ui.New("h1").Class("wordmark").Body(icon(iconMark), ui.New("span").Text("Antiphon")),
		ui.New("p").Class("motto").Text("A conversation you can interrupt."),
		ui.New("div").Class("masthead-tools").Body(
			ui.New("a").Class("tool").Attr("href", "/docs/").Text("Docs"),
			ui.New("button").ID("install").Class("tool").Type("button").Attr("title", "Install this page as an app").Text("Install"),
			ui.New("button").Class("tool").Type("button").Attr("popovertarget", "settings").Body(icon(iconSettings), ui.New("span").Class("tool-label").Text("Settings")),
		),
	)
}

// act calls f with the driver. It does nothing on a static page, which has none.
func (p *Page) act(f func(Driver)) {
	if p.driver != nil {
		f(p.driver)
	}
}
