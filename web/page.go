package web

// The page as a go-app component.

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Page is the Talk page. Without a driver it is the static page that the server
// sends first.
type Page struct {
	app.Compo

	driver Driver
	attach func(Driver) scenery
	shown  Snapshot
	scene  scenery
	away   bool // the user has scrolled back and reads older lines
}

// scenery is the animation and the keyboard shortcuts of the page, which are not
// part of its rendered elements. Only a browser has one.
type scenery interface {
	// Show gives the scenery a new snapshot, after the page has been rendered.
	Show(s Snapshot)
	// Release stops everything.
	Release()
}

// NewPage makes a page with a driver. A nil driver makes a static page of s.
func NewPage(d Driver, s Snapshot) *Page {
	return &Page{driver: d, shown: s}
}

// OnMount connects the page to its driver. It runs in the browser only.
func (p *Page) OnMount(ctx app.Context) {
	if p.driver == nil {
		return
	}
	if p.attach != nil {
		p.scene = p.attach(p.driver)
	}
	p.driver.Start(func(s Snapshot) {
		ctx.Dispatch(func(ctx app.Context) { p.show(ctx, s) })
	})
}

func (p *Page) show(ctx app.Context, s Snapshot) {
	p.shown = s
	ctx.Defer(func(app.Context) {
		p.follow()
		if p.scene != nil {
			p.scene.Show(s)
		}
	})
}

// follow keeps the newest line in sight of a user who has not scrolled back.
func (p *Page) follow() {
	if !p.away && len(p.shown.Lines) > 0 {
		toEnd("scroll")
	}
}

// OnResize follows too, because an on-screen keyboard takes half of the screen.
func (p *Page) OnResize(app.Context) { p.follow() }

func (p *Page) onScroll(ctx app.Context, _ app.Event) {
	ctx.PreventUpdate()
	p.away = len(p.shown.Lines) > 0 && !atEnd("scroll")
}

// OnDismount releases everything that OnMount has acquired.
func (p *Page) OnDismount() {
	if p.scene != nil {
		p.scene.Release()
	}
}

// Render shows the snapshot.
func (p *Page) Render() app.UI {
	s := p.shown
	return app.Div().ID("page").Class("page").
		DataSet("state", string(s.Phase)).
		DataSet("muted", strconv.FormatBool(s.Muted)).
		DataSet("text-only", strconv.FormatBool(s.TextOnly)).
		Body(
			masthead(),
			app.If(s.Phase == PhaseLoading, func() app.UI {
				return app.Elem("noscript").Text("This page is a program: it needs JavaScript and WebAssembly.")
			}),
			app.Main().Class("desk").Body(
				p.stage(s),
				p.conversation(s),
				app.Aside().Class("rail").Aria("label", "Equipment").Body(
					p.pipeline(s.Pipeline),
					p.devices(s.Devices),
					p.inspector(s.Inside, s.Latency),
					p.keys(),
				),
			),
		)
}

func masthead() app.UI {
	return app.Header().Class("masthead").Body(
		app.H1().Class("wordmark").Body(icon(iconMark), app.Span().Text("Antiphon")),
		app.P().Class("motto").Text("A conversation you can interrupt."),
	)
}

// act calls f with the driver. It does nothing on a static page, which has none.
func (p *Page) act(f func(Driver)) {
	if p.driver != nil {
		f(p.driver)
	}
}
