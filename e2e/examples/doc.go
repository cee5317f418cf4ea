// Package examples holds the tests of the examples that are pages, in a real Chromium. It has no code of its own.
package examples
