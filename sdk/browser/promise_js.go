package browser

import (
	"context"
	"syscall/js"
)

// jsError is what the browser threw or a promise was refused with.
type jsError struct{ name, message string }

func (e *jsError) Error() string {
	switch {
	case e.message == "":
		return e.name
	case e.name == "":
		return e.message
	}
	return e.name + ": " + e.message
}

func asError(v js.Value) *jsError {
	e := &jsError{name: text(v, "name"), message: text(v, "message")}
	if e.name == "" && e.message == "" {
		e.message = js.Global().Get("String").Invoke(v).String()
	}
	return e
}

// text gives a property that is a string, "" when it is none.
func text(v js.Value, name string) string {
	if v.Type() != js.TypeObject && v.Type() != js.TypeFunction {
		return ""
	}
	if p := v.Get(name); p.Type() == js.TypeString {
		return p.String()
	}
	return ""
}

// await waits for a promise. It must not be called from a callback of the browser's. When ctx ends first, what the promise comes to
// goes to late, which may be nil.
func await(ctx context.Context, promise js.Value, late func(js.Value)) (js.Value, error) {
	var end js.Value
	if late == nil {
		promise, end = endable(promise)
	}
	type result struct {
		value js.Value
		err   error
	}
	done := make(chan result, 1)
	var fine, refused Func
	settle := func(r result) {
		fine.Release()
		refused.Release()
		if ctx.Err() != nil && r.err == nil && late != nil {
			late(r.value)
			r.err = ctx.Err()
		}
		done <- r
	}
	fine = NewFunc(func(args []js.Value) any {
		settle(result{value: args[0]})
		return nil
	})
	refused = NewFunc(func(args []js.Value) any {
		settle(result{err: asError(args[0])})
		return nil
	})
	promise.Call("then", fine.Value(), refused.Value())
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // it came at the same time, and is the caller's
		return r.value, r.err
	default:
	}
	if defined(end) {
		end.Invoke()
	}
	return js.Undefined(), ctx.Err()
}

// endable is a promise that ends with this one, or when end is called: those of a connection that was closed never come to
// anything, and would keep what waits for them. end is undefined in a browser that is too old for it.
func endable(promise js.Value) (either, end js.Value) {
	constructor := js.Global().Get("Promise")
	if !defined(constructor.Get("withResolvers")) {
		return promise, js.Undefined()
	}
	ending := constructor.Call("withResolvers")
	return constructor.Call("race", []any{promise, ending.Get("promise")}), ending.Get("resolve")
}

// object makes a JavaScript object of name-value pairs.
func object(pairs ...any) js.Value {
	o := js.Global().Get("Object").New()
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func defined(v js.Value) bool { return !v.IsUndefined() && !v.IsNull() }
