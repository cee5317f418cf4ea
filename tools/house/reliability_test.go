package house

// docs/reliability.md: every test that the page names exists.

import (
	"regexp"
	"testing"
)

// TestPromisesHaveTheirTests: each promise of docs/reliability.md names at least one test, which exists.
func TestPromisesHaveTheirTests(t *testing.T) {
	exists := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, name := range tracked(t, "*_test.go") {
		for _, m := range declared.FindAllSubmatch(read(t, name), -1) {
			exists[string(m[1])] = true
		}
	}
	promises := regexp.MustCompile(`(?m)^\| [^|]+ \| (.+) \|$`).FindAllSubmatch(read(t, "docs/reliability.md"), -1)
	if len(promises) < 100 {
		t.Fatalf("docs/reliability.md has %d promises: have its tables changed?", len(promises))
	}
	for _, m := range promises {
		if string(m[1]) == "shown by" {
			continue
		}
		tests := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(m[1], -1)
		if len(tests) == 0 {
			t.Errorf("a promise names no test: %s", m[0])
		}
		for _, of := range tests {
			if !exists[string(of[1])] {
				t.Errorf("there is no %s: %s", of[1], m[0])
			}
		}
	}
}
