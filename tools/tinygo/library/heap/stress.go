//go:build stress

package heap

// stress collects whenever it can be done, and writes over what is freed, to find what was still used. It is for tests.
const stress = true
