package dynlib

// Texts of C: strings that end with a zero byte.

import (
	"strings"
	"unsafe"
)

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
