package dynlib

// What every C library has: functions with names, and texts that end with a zero byte.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Bind sets each function to the one of the library with this name, after the library's prefix. An error wraps failed.
func Bind(handle uintptr, prefix string, failed error, functions map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		address, err := Symbol(handle, prefix+name)
		if err != nil {
			return fmt.Errorf("%w: %w", failed, err)
		}
		purego.RegisterFunc(functions[name], address)
	}
	return nil
}

// CString returns a text as a C string, without the zero bytes in the text. The caller keeps it alive while the library uses it.
func CString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, strings.ReplaceAll(s, "\x00", ""))
	return unsafe.SliceData(b)
}

// GoString returns at most most bytes of a C string as they are, and reports whether this is the whole text. nil is the empty text.
func GoString(p *byte, most int) (s string, whole bool) {
	if p == nil {
		return "", true
	}
	n := 0
	for n < most && *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n)), n < most
}
