package browser

// Functions that the browser can call, counted so that tests find those that were not released.

import "syscall/js"

// Func is a function that the browser can call, until Release. Unlike a js.Func it is counted: see LiveFuncs.
type Func struct{ f js.Func }

// live is how many functions were made and not released.
var live int

// NewFunc makes f callable by the browser. The browser's caller gets the result of f. f must not wait.
func NewFunc(f func(args []js.Value) any) Func {
	live++
	return Func{js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })}
}

// Release ends the function. The browser must not call it afterwards. Call Release once.
func (f Func) Release() {
	live--
	f.f.Release()
}

// Value returns the function as a value for the browser.
func (f Func) Value() js.Value { return f.f.Value }

// LiveFuncs returns how many functions the browser could call now: 0 when every call is closed and nothing waits for a promise.
func LiveFuncs() int { return live }
