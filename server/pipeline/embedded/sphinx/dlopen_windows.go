package sphinx

// This file loads a shared library on this platform.

import "syscall"

// loadLibrary opens a DLL and everything that it needs.
func loadLibrary(path string) (handle uintptr, err error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

// findSymbol returns the address of a function of the DLL.
func findSymbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}
