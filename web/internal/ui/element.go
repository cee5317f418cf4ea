//go:build !js

package ui

// element is nothing outside of a browser.
type element struct{}
