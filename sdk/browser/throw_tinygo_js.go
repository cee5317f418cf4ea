//go:build tinygo

package browser

import "syscall/js"

// host is what the script that starts this program has left for it: TinyGo cannot recover from what the browser throws, so
// the script does.
var host = js.Global().Get("antiphonHost")

// call calls a method and turns what the browser throws into an error.
func call(v js.Value, method string, args ...any) (js.Value, error) {
	return outcome(host.Call("call", append([]any{v, method}, args...)...))
}

// construct makes an object and turns what the browser throws into an error.
func construct(constructor js.Value, args ...any) (js.Value, error) {
	return outcome(host.Call("construct", append([]any{constructor}, args...)...))
}

func outcome(o js.Value) (js.Value, error) {
	if thrown := o.Get("thrown"); defined(thrown) {
		return js.Undefined(), asError(thrown)
	}
	return o.Get("value"), nil
}
