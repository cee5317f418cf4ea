// Package dynlib opens shared libraries at run time, without cgo.
package dynlib

// This file opens a shared library on Windows.

import "syscall"

// Open opens a DLL and everything that it needs.
func Open(path string) (handle uintptr, err error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

// Symbol returns the address of a function of the DLL.
func Symbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}
