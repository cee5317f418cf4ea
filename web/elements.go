package web

// Direct access to elements of the page: scrolling, text fields, the clipboard.

import (
	"strings"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// nearEnd is how far from the end, in pixels, a user may have scrolled and
// still be following the conversation.
const nearEnd = 80

// atEnd reports whether the newest line of a scrolled element is in sight.
func atEnd(id string) bool {
	e := app.Window().GetElementByID(id)
	if !e.Truthy() {
		return false
	}
	hidden := e.Get("scrollHeight").Float() - e.Get("clientHeight").Float()
	return hidden-e.Get("scrollTop").Float() <= nearEnd
}

// toEnd brings the newest line of a scrolled element into sight.
func toEnd(id string) {
	if e := app.Window().GetElementByID(id); e.Truthy() {
		e.Set("scrollTop", e.Get("scrollHeight"))
	}
}

// takeValue empties a text field and returns what was in it, without the spaces
// around it.
func takeValue(id string) string {
	e := app.Window().GetElementByID(id)
	if !e.Truthy() {
		return ""
	}
	text := strings.TrimSpace(e.Get("value").String())
	e.Set("value", "")
	return text
}

// focus moves the keyboard's focus to an element.
func focus(id string) {
	if e := app.Window().GetElementByID(id); e.Truthy() {
		e.Call("focus")
	}
}

// copyText puts text on the clipboard and reports whether the browser has one
// for this page: it has none on an insecure address.
func copyText(text string) bool {
	clipboard := app.Window().Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		return false
	}
	clipboard.Call("writeText", text)
	return true
}
