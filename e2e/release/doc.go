// Package release holds the test of the npm package as make sdk builds it, in a real Chromium. It has no code of its own.
package release
