package main

// Reads and writes the budget, and compares files with it.

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// line is one line of the budget.
type line struct {
	name, how       string
	was, most, goal int // bytes
	text            string
}

// parse reads a budget. It ignores empty lines and lines that begin with #.
func parse(text string) ([]line, error) {
	var lines []line
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		f := strings.Fields(l)
		if len(f) == 0 || strings.HasPrefix(l, "#") {
			continue
		}
		if len(f) != 5 || f[1] != "brotli" && f[1] != "gzip" {
			return nil, fmt.Errorf("%q: a line is NAME brotli|gzip BYTES MOST GOAL", l)
		}
		one := line{name: f[0], how: f[1], text: l}
		for i, p := range []*int{&one.was, &one.most, &one.goal} {
			n, err := strconv.Atoi(f[2+i])
			if err != nil {
				return nil, fmt.Errorf("%q: a size is no number: %w", l, err)
			}
			*p = n
		}
		lines = append(lines, one)
	}
	return lines, nil
}

// check returns an error when a size, in bytes, is over the budget.
func (l line) check(now int) error {
	switch {
	case now > l.most:
		return fmt.Errorf("%w: %s has %d bytes (%s), and may have %d", errBudget, l.name, now, l.how, l.most)
	case float64(now) > growth*float64(l.was):
		return fmt.Errorf("%w: %s has grown from %d to %d bytes (%s), by more than 3 %%: make it smaller, or say why in the "+
			"commit that runs make sdk-budget", errBudget, l.name, l.was, now, l.how)
	}
	return nil
}

// judge says whether a size meets the goal, and otherwise by how much it misses it.
func (l line) judge(now int) string {
	if now <= l.goal {
		return fmt.Sprintf("%d, met", l.goal)
	}
	return fmt.Sprintf("%d, missed by %d %%", l.goal, (now-l.goal)*100/l.goal)
}

func rewrite(file, text string, budget []line, measured map[string]sizes) error {
	for _, l := range budget {
		s, ok := measured[l.name]
		if !ok {
			continue
		}
		text = strings.Replace(text, l.text+"\n", fmt.Sprintf("%s %s %d %d %d\n", l.name, l.how, s.packed(l.how), l.most, l.goal), 1)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
