// Package words cuts and joins texts.
package words

import (
	"strings"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/script"
)

// Join joins the non-empty parts of a text by line breaks.
func Join(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n")
}

// CutBytes returns the first n bytes of s at most, without half of a character at the end.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// Cut returns the given share (0 to 1) of s, up to the last whole word. Where no spaces stand between words, each character is one.
func Cut(s string, share float64) string {
	n := int(share * float64(len(s)))
	if share >= 1 || n >= len(s) {
		return s
	}
	if n <= 0 {
		return ""
	}
	heard := CutBytes(s, n)
	for heard != "" {
		last, size := utf8.DecodeLastRuneInString(heard)
		next, _ := utf8.DecodeRuneInString(s[len(heard):])
		if last == ' ' || next == ' ' || script.Unspaced(last) || script.Unspaced(next) {
			break
		}
		heard = heard[:len(heard)-size]
	}
	return strings.TrimRight(heard, " ")
}
