package page

// Gives the page's script the function that begins calls.

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk/browser"
)

// Register gives the script the functions connect and usage.
func Register() {
	connect := browser.NewFunc(func(args []js.Value) any {
		c, err := newCall(args[0], args[1], args[2])
		if err != nil {
			return errorText(err)
		}
		return c.do.Value()
	})
	usage := browser.NewFunc(func([]js.Value) any { return browser.LiveFuncs() - registered })
	js.Global().Get("antiphonHost").Call("ready", connect.Value(), usage.Value())
}

// registered is how many functions there are without a call.
const registered = 2

// field returns a property that is a text; "" when it is none.
func field(o js.Value, name string) string {
	if v := o.Get(name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

func truthy(o js.Value, name string) bool { return o.Get(name).Truthy() }

func there(v js.Value) bool { return !v.IsUndefined() && !v.IsNull() }
