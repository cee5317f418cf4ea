package web

// Starts the page in a browser.

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// Run shows the page on a driver and does not return. It is the client
// program's whole main.
func Run(d Driver) {
	p := NewPage(d, Snapshot{Phase: PhaseIdle})
	p.screen = ui.NewScreen()
	p.update()
	scene := newScene(d)
	follow := js.FuncOf(func(js.Value, []js.Value) any {
		p.follow() // an on-screen keyboard takes half of the screen
		return nil
	})
	js.Global().Call("addEventListener", "resize", follow)

	// The page is shown when the program has nothing else to do. Of several snapshots it shows the last one.
	var next Snapshot
	waits := false
	show := js.FuncOf(func(js.Value, []js.Value) any {
		waits = false
		p.show(next)
		scene.Show(next)
		return nil
	})
	d.Start(func(s Snapshot) {
		next = s
		if !waits {
			waits = true
			js.Global().Call("queueMicrotask", show)
		}
	})
	select {}
}

// show shows a snapshot.
func (p *Page) show(s Snapshot) {
	p.shown = s
	p.update()
	p.follow()
}

// follow keeps the newest line in sight of a user who has not scrolled back.
func (p *Page) follow() {
	if !p.away && len(p.shown.Lines) > 0 {
		p.screen.ToEnd("scroll")
	}
}
