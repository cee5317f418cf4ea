//go:build !tinygo

package browser

import "syscall/js"

// call calls a method and turns what the browser throws into an error.
func call(v js.Value, method string, args ...any) (result js.Value, err error) {
	defer caught(&err)
	return v.Call(method, args...), nil
}

// construct makes an object and turns what the browser throws into an error.
func construct(constructor js.Value, args ...any) (made js.Value, err error) {
	defer caught(&err)
	return constructor.New(args...), nil
}

func caught(err *error) {
	switch thrown := recover().(type) {
	case nil:
	case js.Error:
		*err = asError(thrown.Value)
	default:
		panic(thrown)
	}
}
