//go:build !js

package web

// The user's clock outside of a browser.

import "time"

// clockTime returns a time of the server as the user's clock shows it; empty for a text that is no time.
func clockTime(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return t.Local().Format(time.TimeOnly)
}
