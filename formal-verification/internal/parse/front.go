package parse

// Parses the options at the beginning of a specification (the front matter).

import "strings"

// front is the options block between two lines of three dashes; nothing but comments may stand before it.
type front struct {
	yaml  string // with empty lines before it, so that the lines of its errors are those of the file
	end   int    // offset of what follows
	lines int    // lines before that
}

const fence = "---"

func frontMatter(name, text string) (front, error) {
	pos, line, opened := 0, 0, 0
	var yaml strings.Builder
	for pos < len(text) {
		s, next := text[pos:], len(text)
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s, next = s[:i], pos+i+1
		}
		pos = next
		line++
		switch at := strings.Index(s, fence); {
		case strings.TrimSpace(s) == fence && at == 0:
			if opened > 0 {
				return front{yaml: yaml.String(), end: next, lines: line}, nil
			}
			opened = line
			yaml.WriteString(strings.Repeat("\n", line))
		case opened > 0 && at >= 0:
			// FizzBee ends the options at the first three dashes, wherever they stand.
			return front{}, &Error{File: name, Line: line, Col: len([]rune(s[:at])) + 1, Found: fence + " within a line of the options", Want: "it alone in its line"}
		case opened > 0:
			yaml.WriteString(s + "\n")
		case strings.TrimSpace(s) != "" && !strings.HasPrefix(strings.TrimSpace(s), "#"):
			return front{}, nil
		}
	}
	if opened > 0 {
		return front{}, &Error{File: name, Line: opened, Col: 1, Found: "options that never end", Want: fence + " in a line of its own behind them"}
	}
	return front{}, nil
}
