package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// line is one line of the budget.
type line struct {
	name, how string
	was, most int // bytes
	text      string
}

// parse reads a budget. Empty lines and those that begin with # say nothing.
func parse(text string) ([]line, error) {
	var lines []line
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		f := strings.Fields(l)
		if len(f) == 0 || strings.HasPrefix(l, "#") {
			continue
		}
		if len(f) != 4 || f[1] != "brotli" && f[1] != "gzip" {
			return nil, fmt.Errorf("%q: a line is NAME brotli|gzip BYTES MOST", l)
		}
		was, errWas := strconv.Atoi(f[2])
		most, errMost := strconv.Atoi(f[3])
		if errWas != nil || errMost != nil {
			return nil, fmt.Errorf("%q: the sizes are no numbers", l)
		}
		lines = append(lines, line{f[0], f[1], was, most, l})
	}
	return lines, nil
}

// check says why so many bytes are too many.
func (l line) check(now int) error {
	switch {
	case now > l.most:
		return fmt.Errorf("%w: %s has %d bytes (%s), and may have %d", errBudget, l.name, now, l.how, l.most)
	case float64(now) > growth*float64(l.was):
		return fmt.Errorf("%w: %s has grown from %d to %d bytes (%s), by more than 3 %%: make it smaller, or say why in the "+
			"commit that runs make sdk-size-write", errBudget, l.name, l.was, now, l.how)
	}
	return nil
}

func rewrite(file, text string, budget []line, measured map[string]sizes) error {
	for _, l := range budget {
		s, ok := measured[l.name]
		if !ok {
			continue
		}
		text = strings.Replace(text, l.text+"\n", fmt.Sprintf("%s %s %d %d\n", l.name, l.how, s.packed(l.how), l.most), 1)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
