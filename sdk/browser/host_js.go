package browser

// Access to the page's script: its object, its errors, and its promises.

import (
	"context"
	"syscall/js"
)

// host is the object that the page's script has left for this program: the browser's part of a call (sdk/npm/host.js).
var host = js.Global().Get("antiphonHost")

// jsError is an exception of the browser, or the reason of a rejected promise.
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

func errorOf(v js.Value) *jsError {
	e := &jsError{name: text(v, "name"), message: text(v, "message")}
	if e.name == "" && e.message == "" {
		e.message = js.Global().Get("String").Invoke(v).String()
	}
	return e
}

// text returns a property that is a string; "" when it is none.
func text(v js.Value, name string) string {
	if v.Type() != js.TypeObject && v.Type() != js.TypeFunction {
		return ""
	}
	if p := v.Get(name); p.Type() == js.TypeString {
		return p.String()
	}
	return ""
}

// await calls a method of target that returns a promise, and waits for its result. The last argument of the method is an
// AbortSignal that fires when ctx ends. A result that comes later is lost; the method must free it. A callback of the browser
// must not call await. Errors: ctx's, *jsError.
func await(ctx context.Context, target js.Value, method string, args ...any) (js.Value, error) {
	type result struct {
		value js.Value
		err   error
	}
	done := make(chan result, 1)
	var told Func
	told = NewFunc(func(args []js.Value) any {
		told.Release()
		if len(args) > 1 {
			done <- result{err: errorOf(args[1])}
		} else {
			done <- result{value: args[0]}
		}
		return nil
	})
	control := host.Call("ask", append([]any{told.Value(), target, method}, args...)...)
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // the result came at the same time as the end of ctx
		return r.value, r.err
	default:
	}
	control.Call("abort")
	return js.Undefined(), ctx.Err()
}

// object makes a JavaScript object of name and value pairs.
func object(pairs ...any) js.Value {
	o := js.Global().Get("Object").New()
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// defined reports whether v is neither undefined nor null.
func defined(v js.Value) bool { return !v.IsUndefined() && !v.IsNull() }
