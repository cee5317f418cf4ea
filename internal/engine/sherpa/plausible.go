package sherpa

// This file finds what a model invents: for sound without words, such models repeat themselves.

import (
	"slices"
	"strings"
)

const (
	maxWordsASecond = 7 // fast speech has 5
	extraWords      = 3 // that a short recording may have besides
	maxRepeats      = 3 // of the same words, one after the other
	longestPhrase   = 6 // words
)

// plausible returns the text without what it repeats more than maxRepeats times, and the empty text if it has more words than fit into
// that many samples.
func plausible(text string, samples int) string {
	words := strings.Fields(text)
	short := words
	for n := 1; n <= longestPhrase; n++ {
		short = unrepeat(short, n)
	}
	if len(short)*1000*ms > samples*maxWordsASecond+extraWords*1000*ms {
		return ""
	}
	if len(short) == len(words) {
		return text
	}
	return strings.Join(short, " ")
}

// unrepeat removes the repetitions of phrases of n words, beyond maxRepeats.
func unrepeat(words []string, n int) []string {
	out := make([]string, 0, len(words))
	for i := 0; i < len(words); {
		repeats := 1
		for i+(repeats+1)*n <= len(words) && slices.Equal(words[i:i+n], words[i+repeats*n:i+(repeats+1)*n]) {
			repeats++
		}
		if repeats > maxRepeats {
			out = append(out, words[i:i+n]...)
			i += repeats * n
			continue
		}
		out = append(out, words[i])
		i++
	}
	return out
}
