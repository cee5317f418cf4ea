package script

// Characters of both kinds of scripts.

import (
	"testing"
	"unicode"

	"github.com/onsi/gomega"
)

func TestUnspaced(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, r := range "嗯天気コーヒー々ไทยລາວខ្មែរမြန်မာ𠮷" {
		g.Expect(Unspaced(r)).To(gomega.BeTrue(), string(r))
	}
	for _, r := range "aéя 1한글。、，！·・😀…" {
		g.Expect(Unspaced(r)).To(gomega.BeFalse(), string(r))
	}
	// Package unicode agrees about all letters.
	for r := range rune(0x40000) {
		if unicode.IsLetter(r) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer) && r < 0x10000 {
			g.Expect(Unspaced(r)).To(gomega.BeTrue(), string(r))
		}
	}
}
