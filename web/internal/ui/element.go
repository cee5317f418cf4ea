//go:build !js

package ui

// What a node keeps of the document outside of a browser.

// element is nothing outside of a browser.
type element struct{} //nolint:unused // only a browser has elements
