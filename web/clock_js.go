package web

// The user's clock in a browser.

import "syscall/js"

// clockTime returns a time of the server as the user's clock shows it; empty for a text that is no time. The browser reads it: package time takes
// 8 kB of the program, compressed.
func clockTime(at string) string {
	text := js.Global().Get("Date").New(at).Call("toTimeString").String() // "15:04:05 GMT+0100 (…)"
	if len(text) < len("15:04:05") || text[2] != ':' {
		return "" // "Invalid Date"
	}
	return text[:len("15:04:05")]
}
