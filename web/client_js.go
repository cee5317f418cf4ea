package web

// The client in a browser: it keeps the key in the tab's storage, and finds problems that prevent calls.

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/browser"
)

// host has the functions of page.js for the program: key returns the server's key that the tab keeps until it is closed, and keepKey keeps it.
var host = js.Global().Get("antiphonHost")

// NewBrowserClient makes the client of this browser, for the server that the
// page came from.
func NewBrowserClient() (*Client, error) {
	dialer := browser.New(browser.Options{Key: host.Call("key").String()})
	return NewClient(ClientOptions{
		Dialer: dialer, Clock: sdk.NewClock(), Start: pageProblem(), TurnDetection: turnDetection(),
		SetKey: func(key string) {
			dialer.SetKey(key)
			host.Call("keepKey", key)
		},
	})
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
