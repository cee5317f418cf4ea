package human

// This file chooses prompts whose texts are known.

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// Of the prompts that Prompts returns.
const (
	shortest = 500 * time.Millisecond
	longest  = 15 * time.Second
)

// Sentence is a prompt with its text.
type Sentence struct {
	Name, Text string
	PCM        []float32 // mono at Rate
}

// Prompts returns the prompts whose names begin with these letters, of 0.5 s to 15 s, in the order of their names.
func Prompts(first, last byte) (all []Sentence, err error) {
	texts, err := Texts()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.ContainsAny(texts[name], "[<") || !Within(name, first, last) {
			continue
		}
		said, err := Prompt(name)
		if errors.Is(err, ErrNotInstalled) {
			continue // some texts have no recording
		}
		if length := Duration(len(said)); length >= shortest && length <= longest {
			all = append(all, Sentence{name, texts[name], voice.PCM16ToFloat(nil, said)})
		}
	}
	if len(all) == 0 {
		return nil, ErrNotInstalled
	}
	return all, nil
}

// Within reports whether the name of a prompt begins with one of these letters.
func Within(name string, first, last byte) bool {
	initial := strings.ToLower(path.Base(name))[0]
	return initial >= first && initial <= last
}

// Sentences returns n of the prompts that have at least four words, spread over all. 0 means all of them.
func Sentences(all []Sentence, n int) []Sentence {
	long := slices.DeleteFunc(slices.Clone(all), func(s Sentence) bool {
		return len(strings.Fields(s.Text)) < 4 || strings.HasPrefix(s.Name, "letters/")
	})
	if n == 0 || n >= len(long) {
		return long
	}
	some := make([]Sentence, n)
	for i := range some {
		some[i] = long[i*len(long)/n]
	}
	return some
}

// Duration returns the duration of n samples at Rate.
func Duration(n int) time.Duration { return time.Duration(n) * time.Second / Rate }
