package dynlib

// Texts that a library of C gives and takes.

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/onsi/gomega"
)

func TestTexts(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(unsafe.Slice(CString("a\x00b"), 3)).To(gomega.Equal([]byte("ab\x00")))
	for _, row := range []struct {
		text, want string
		whole      bool
	}{
		{"", "", true},
		{"héllo", "héllo", true},
		{"\xff!", "\xff!", true},
		{strings.Repeat("x", 9), strings.Repeat("x", 9), true},
		{strings.Repeat("x", 10), strings.Repeat("x", 10), false},
		{strings.Repeat("x", 99), strings.Repeat("x", 10), false},
	} {
		s, whole := GoString(CString(row.text), 10)
		g.Expect(s).To(gomega.Equal(row.want))
		g.Expect(whole).To(gomega.Equal(row.whole), row.text)
	}
	s, whole := GoString(nil, 10)
	g.Expect(s).To(gomega.BeEmpty())
	g.Expect(whole).To(gomega.BeTrue())
}
