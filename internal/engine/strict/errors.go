package strict

// The mistakes of a file.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxErrors is how many mistakes of a file are reported.
const maxErrors = 10

// Error is a mistake in a file.
type Error struct {
	File   string
	Line   int // from 1; 0: the whole file
	Column int // in characters, from 1; 0: not known
	Msg    string
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
		if e.Column > 0 {
			where += ":" + strconv.Itoa(e.Column)
		}
	}
	return where + ": " + e.Msg
}

// Errors are the first mistakes of a file, at most 10, in the order of their lines.
type Errors struct {
	All  []*Error
	More int // mistakes that All does not have
}

// Error returns one line for each mistake.
func (e *Errors) Error() string {
	var lines []string
	for _, one := range e.All {
		lines = append(lines, one.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more mistakes", e.All[0].File, e.More))
	}
	return strings.Join(lines, "\n")
}

func (e *Errors) Unwrap() []error {
	var all []error
	for _, one := range e.All {
		all = append(all, one)
	}
	return all
}

// errorsOf returns the first of these mistakes; nil for none.
func errorsOf(all []*Error) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b *Error) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	shown := min(len(all), maxErrors)
	return &Errors{All: all[:shown], More: len(all) - shown}
}
