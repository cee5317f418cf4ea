//go:build stress

package heap

// The build for tests: the collector runs as often as it can, so that a use after free is found.

// stress collects whenever it can be done, and writes over what is freed, to find what was still used. It is for tests.
const stress = true
