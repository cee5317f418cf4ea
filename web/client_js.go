package web

// The client in a browser: it keeps the key in the tab's storage, and finds problems that prevent calls.

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/browser"
)

// keyName is where a tab keeps the server's key until it is closed.
const keyName = "antiphon-key"

// NewBrowserClient makes the client of this browser, for the server that the
// page came from.
func NewBrowserClient() (*Client, error) {
	dialer := browser.New(browser.Options{Key: keptKey()})
	return NewClient(ClientOptions{
		Dialer: dialer, Clock: sdk.NewClock(), Start: pageProblem(), TurnDetection: turnDetection(),
		SetKey: func(key string) {
			dialer.SetKey(key)
			keepKey(key)
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
		p := ProblemOf(ProblemUnsupported, "")
		return &p
	}
	if !js.Global().Get("isSecureContext").Truthy() {
		p := ProblemOf(ProblemInsecure, "")
		return &p
	}
	return nil
}

// withStorage calls f with the tab's storage. A browser that blocks the storage
// throws as soon as the storage is read; then f is not called.
func withStorage(f func(storage js.Value)) {
	defer func() {
		// Without a storage the key is asked for again in the next tab.
		_ = recover()
	}()
	f(js.Global().Get("Reflect").Call("get", js.Global(), "sessionStorage"))
}

func keptKey() (key string) {
	withStorage(func(storage js.Value) {
		if kept := storage.Call("getItem", keyName); kept.Type() == js.TypeString {
			key = kept.String()
		}
	})
	return key
}

func keepKey(key string) {
	withStorage(func(storage js.Value) { storage.Call("setItem", keyName, key) })
}
