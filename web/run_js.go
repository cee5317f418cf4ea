package web

// Starts the page in a browser.

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// Run shows the page on a driver and does not return. It is the client
// program's whole main.
func Run(d Driver) {
	app.Route("/", func() app.Composer {
		p := NewPage(d, Snapshot{Phase: PhaseIdle})
		p.attach = newScene
		return p
	})
	app.RunWhenOnBrowser()
}
