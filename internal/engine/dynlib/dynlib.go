//go:build !windows

// Package dynlib opens shared libraries at run time, without cgo.
package dynlib

// This file opens a shared library on a Unix system.

import "github.com/ebitengine/purego"

// Open opens a shared library and everything that it needs.
func Open(path string) (handle uintptr, err error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// Symbol returns the address of a function of the library.
func Symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
