package gate

// Mutants: edits of one line of a specification, and the file format in which they are listed.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Mutant is a one-line edit of a spec and the assertion that must then fail.
type Mutant struct {
	Line      int // in its file
	Assertion string
	Block     string // the header line of the block that has the line
	Old, New  string
}

func (m Mutant) String() string {
	return fmt.Sprintf("%s | %s | %s => %s", m.Assertion, m.Block, m.Old, m.New)
}

// Mutants reads a list of mutants, one on each line: `ASSERTION | header of the block | old => new`.
func Mutants(text string) ([]Mutant, error) {
	var out []Mutant
	var wrong []error
	seen := map[string]int{}
	for i, raw := range strings.Split(text, "\n") {
		row := strings.TrimSpace(raw)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		m, err := mutant(row)
		if first := seen[row]; err == nil && first != 0 {
			err = fmt.Errorf("it is line %d again", first)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", i+1, err))
			continue
		}
		seen[row] = i + 1
		m.Line = i + 1
		out = append(out, m)
	}
	return out, errors.Join(wrong...)
}

func mutant(row string) (Mutant, error) {
	parts := strings.SplitN(row, " | ", 3)
	if len(parts) != 3 {
		return Mutant{}, errors.New("expected `ASSERTION | header of the block | old => new`")
	}
	before, after, isEdit := strings.Cut(parts[2], " => ")
	m := Mutant{
		Assertion: strings.TrimSpace(parts[0]), Block: strings.TrimSpace(parts[1]),
		Old: strings.TrimSpace(before), New: strings.TrimSpace(after),
	}
	switch {
	case !isEdit || m.Old == "" || m.New == "":
		return Mutant{}, errors.New("expected `old => new`, both not empty (`pass` does nothing)")
	case m.Old == m.New:
		return Mutant{}, errors.New("the edit changes nothing")
	case slices.Contains(strings.Fields(m.Block), "assertion"):
		return Mutant{}, errors.New("the edit spoils an assertion: it must spoil what the assertion is about")
	}
	return m, nil
}

// Apply returns the spec with the edit: it replaces the first occurrence of Old in the block with the header Block, including the header.
func (m Mutant) Apply(spec string) (string, error) {
	lines := strings.Split(spec, "\n")
	from, err := header(lines, m.Block)
	if err != nil {
		return "", err
	}
	for i := from; i < len(lines) && (i == from || inside(lines[i], lines[from])); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "#") || !strings.Contains(code(lines[i]), m.Old) {
			continue
		}
		lines[i] = strings.Replace(lines[i], m.Old, m.New, 1)
		return strings.Join(lines, "\n"), nil
	}
	return "", fmt.Errorf("no line of the block %q has %q", m.Block, m.Old)
}

func header(lines []string, block string) (int, error) {
	found := -1
	for i, l := range lines {
		if strings.TrimSpace(code(l)) != block {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("lines %d and %d both are %q: which one is meant?", found+1, i+1, block)
		}
		found = i
	}
	if found < 0 {
		return 0, fmt.Errorf("no line of the spec is %q", block)
	}
	return found, nil
}

// inside reports whether a line belongs to the block below head.
func inside(line, head string) bool {
	return strings.TrimSpace(line) == "" || indent(line) > indent(head)
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// code returns the line without its comment. A # inside a string begins no comment.
func code(line string) string {
	var quote rune
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '#':
			return line[:i]
		}
	}
	return line
}
