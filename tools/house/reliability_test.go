package house

// docs/reliability.md: every test that the page names exists, and its rows are in order.

import (
	"regexp"
	"strconv"
	"testing"
)

// TestPromisesHaveTheirTests: each row of docs/reliability.md begins with a number, the rows are in the order of their numbers, and
// each row names at least one test, which exists.
func TestPromisesHaveTheirTests(t *testing.T) {
	exists := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, name := range tracked(t, "*_test.go") {
		for _, m := range declared.FindAllSubmatch(read(t, name), -1) {
			exists[string(m[1])] = true
		}
	}
	row, test := regexp.MustCompile(`(?m)^\| (\d+): .*$`), regexp.MustCompile("`(Test\\w+)`")
	last := 0
	for _, m := range row.FindAllSubmatch(read(t, "docs/reliability.md"), -1) {
		number, err := strconv.Atoi(string(m[1]))
		if err != nil || number < last {
			t.Errorf("row %s comes after row %d", m[1], last)
		}
		last = number
		tests := test.FindAllSubmatch(m[0], -1)
		if len(tests) == 0 {
			t.Errorf("row %d names no test: %s", number, m[0])
		}
		for _, of := range tests {
			if !exists[string(of[1])] {
				t.Errorf("row %d: there is no %s", number, of[1])
			}
		}
	}
	if last == 0 {
		t.Fatal("docs/reliability.md has no rows that begin with a number")
	}
}
