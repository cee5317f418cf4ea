// Package page holds the test of the page's script (sdk/npm) in a real Chromium, as a page's author uses it. It has no code of its own.
package page
