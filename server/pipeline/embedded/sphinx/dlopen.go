//go:build !windows

package sphinx

// This file loads a shared library on this platform.

import "github.com/ebitengine/purego"

// loadLibrary opens a shared library and everything that it needs.
func loadLibrary(path string) (handle uintptr, err error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// findSymbol returns the address of a function of the library.
func findSymbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
