//go:build !stress

package heap

// The normal build: the constant stress is false (stress.go has the other one).

const stress = false
