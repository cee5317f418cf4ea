package web

// The client in a browser: it keeps the key in the tab's storage, and finds problems that prevent calls.

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/browser"
)

// host has the functions of talk-page.js for the program: key returns the server's key that the tab keeps until it is closed, and keepKey keeps it;
// settings returns the settings of the drawer, and listen tells of a change of them and of the button of push-to-talk.
var host = js.Global().Get("antiphonHost")

// NewBrowserClient makes the client of this browser, for the server that the
// page came from.
func NewBrowserClient() (*Client, error) {
	dialer := browser.New(browser.Options{Key: host.Call("key").String()})
	c, err := NewClient(ClientOptions{
		Dialer: dialer, Clock: sdk.NewClock(), Start: pageProblem(), TurnDetection: turnDetection(),
		SetKey: func(key string) {
			dialer.SetKey(key)
			host.Call("keepKey", key)
		},
	})
	if err != nil {
		panic(err) // with an error that may be returned, package log of the program takes 10 kB, compressed
	}
	c.Use(settings())
	host.Call("listen", js.FuncOf(func(js.Value, []js.Value) any {
		c.Use(settings())
		return nil
	}), js.FuncOf(func(_ js.Value, args []js.Value) any {
		c.Hold(args[0].Bool())
		return nil
	}))
	return c, nil
}

// settings returns what the user has chosen in the drawer.
func settings() Settings {
	all := host.Call("settings")
	at := func(i int) string { return all.Index(i).String() }
	return Settings{Voice: at(0), Language: at(1), Instructions: at(2), Turns: at(3), Eagerness: at(4), Noise: at(5), DuckBy: all.Index(6).Float()}
}

// turnDetection returns what the page's server asks for in the page (Options.Semantic); nil when it asks for nothing.
func turnDetection() *sdk.TurnDetection {
	if js.Global().Get("document").Call("querySelector", `meta[name="`+semanticName+`"]`).IsNull() {
		return nil
	}
	return &sdk.TurnDetection{Semantic: true}
}

// pageProblem returns a problem that prevents all calls, so that the page can
// show it before the first call; nil when there is none.
func pageProblem() *Problem {
	if err := browser.Supported(); err != nil {
		p := ProblemOf(problemUnsupported, "")
		return &p
	}
	if !js.Global().Get("isSecureContext").Truthy() {
		p := ProblemOf(problemInsecure, "")
		return &p
	}
	return nil
}
