package browser

import "syscall/js"

// Func is a function that the browser can call, until Release. Unlike a js.Func it is counted: see LiveFuncs.
type Func struct{ f js.Func }

// live counts the functions that were not released yet.
var live int

// NewFunc makes f callable by the browser. What f gives is what the browser's caller gets; f must not wait.
func NewFunc(f func(args []js.Value) any) Func {
	live++
	return Func{js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })}
}

// Release takes the function back. The browser must not call it afterwards. To be called once.
func (f Func) Release() {
	live--
	f.f.Release()
}

// Value is what to give the browser.
func (f Func) Value() js.Value { return f.f.Value }

// LiveFuncs is how many functions the browser could call now: none when every call is closed and nothing waits for a
// promise.
func LiveFuncs() int { return live }
