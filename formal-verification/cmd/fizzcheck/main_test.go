package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

func TestMain(m *testing.M) {
	check.Main()
	os.Exit(m.Run())
}

// good passes every house rule; the tests break it one by one.
const good = `---
deadlock_detection: true
options:
  max_actions: 100
  max_concurrent_actions: 1
  crash_on_yield: false
---

action Init:
    n = 0

atomic fair action Count:
    n = (n + 1) % 3

always assertion Small:
    return n < 3

always eventually assertion Returns:
    return n == 0
`

// A trial changes the good spec, and says what is printed of it.
type trial struct {
	edits []string // old, new, …
	args  []string
	code  int
	line  string
	says  string
}

var trials = map[string]trial{
	"all holds": {
		code: 0, line: "spec=clock nodes=3 states=3 verdict=PASSED",
	},
	"as it is written": {
		args: []string{"--plain"}, code: 0, line: "spec=clock nodes=3 states=3 verdict=PASSED",
	},
	"an assertion fails": {
		edits: []string{"n < 3", "n < 2"},
		code:  1, line: "spec=clock nodes=3 states=3 verdict=FAILED assertion=Small", says: "Count  [n: 1 -> 2]",
	},
	"a liveness assertion fails": {
		edits: []string{"atomic fair", "atomic"},
		code:  1, line: "spec=clock nodes=3 states=3 verdict=FAILED assertion=Returns", says: "for ever",
	},
	"a deadlock": {
		edits: []string{"    n = (n + 1) % 3", "    require n < 2\n    n = n + 1", "n == 0", "n >= 0"},
		code:  2, line: "spec=clock nodes=3 states=3 verdict=DEADLOCK", says: "Count  [n: 1 -> 2]",
	},
	"the bound was reached": {
		edits: []string{"max_actions: 100", "max_actions: 2"},
		code:  2, says: "max_actions",
	},
	"the bound was reached in a spec as it is written": {
		edits: []string{"max_actions: 100", "max_actions: 2", "n == 0", "n >= 0"},
		args:  []string{"--plain"}, code: 0, line: "spec=clock nodes=3 states=3 verdict=PASSED", says: "max_actions",
	},
	"liveness switched off": {
		edits: []string{"deadlock_detection", "liveness: \"false\"\ndeadlock_detection"},
		code:  2, says: "liveness",
	},
	"liveness switched off in a spec as it is written": {
		edits: []string{"deadlock_detection", "liveness: \"false\"\ndeadlock_detection", "n == 0", "n == 9"},
		args:  []string{"--plain"}, code: 0, line: "spec=clock nodes=3 states=3 verdict=PASSED",
	},
	"an assertion in a role": {
		edits: []string{"atomic fair action Count", "role Clock:\n    always assertion Hidden:\n        return False\n\natomic fair action Count"},
		code:  2, says: "line 13: assertion Hidden stands in role Clock",
	},
	"an option is missing": {
		edits: []string{"  max_concurrent_actions: 1\n", ""},
		code:  2, says: "max_concurrent_actions is missing",
	},
	"an action that is never enabled": {
		edits: []string{"always assertion Small", "atomic action Never:\n    require n > 5\n    n = 0\n\nalways assertion Small"},
		code:  2, says: "the action Never is never enabled",
	},
	"a target that the spec does not have": {
		edits: []string{"    n = (n + 1) % 3", "    n = (n + 1) % 3\n    m = n"},
		code:  2, says: "m in action Count",
	},
	"a typing error": {
		edits: []string{"always assertion", "always asertion"},
		code:  2, says: `clock.fizz:15:`,
	},
	"an expression that fails": {
		edits: []string{"n < 3", "n[0] < 3"},
		code:  2, says: "Line 16",
	},
	"a time limit": {
		edits: []string{"(n + 1) % 3", "n + 1", "max_actions: 100", "max_actions: 100000000", "n < 3", "n >= 0"},
		args:  []string{"--timeout", "200ms"}, code: 2, says: "timed out",
	},
	"a flag that is none": {
		args: []string{"--pain"}, code: 2, says: "usage",
	},
}

func TestOneLineAndAnExitCode(t *testing.T) {
	for name, test := range trials {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "clock.fizz")
			text := good
			for i := 0; i < len(test.edits); i += 2 {
				g.Expect(text).To(ContainSubstring(test.edits[i]))
				text = strings.Replace(text, test.edits[i], test.edits[i+1], 1)
			}
			g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())

			var out, errs bytes.Buffer
			code := run(t.Context(), append(test.args, path), &out, &errs)
			g.Expect(code).To(Equal(test.code), errs.String())
			g.Expect(strings.TrimSuffix(out.String(), "\n")).To(Equal(test.line))
			g.Expect(errs.String()).To(ContainSubstring(test.says))
		})
	}
}

func TestWhatIsNoSpec(t *testing.T) {
	g := NewWithT(t)
	for _, args := range [][]string{{}, {"a.fizz", "b.fizz"}, {"none.fizz"}, {"main.go"}, {"--plain", t.TempDir()}} {
		var out, errs bytes.Buffer
		g.Expect(run(t.Context(), args, &out, &errs)).To(Equal(2), "%v", args)
		g.Expect(out.String()).To(BeEmpty())
		g.Expect(errs.String()).NotTo(BeEmpty())
	}
}

// TestNoMoreIsReadThanASpecMayHave: neither a file that has no end nor one that is huge costs memory.
func TestNoMoreIsReadThanASpecMayHave(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	endless, huge := filepath.Join(dir, "endless.fizz"), filepath.Join(dir, "huge.fizz")
	g.Expect(os.Symlink("/dev/zero", endless)).To(Succeed())
	g.Expect(os.WriteFile(huge, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(huge, 1<<34)).To(Succeed())
	for path, says := range map[string]string{
		endless: "is no regular file: name a file with a spec",
		huge:    "expected at most 1048576",
	} {
		var out, errs bytes.Buffer
		g.Expect(run(t.Context(), []string{path}, &out, &errs)).To(Equal(2), path)
		g.Expect(out.String()).To(BeEmpty())
		g.Expect(errs.String()).To(ContainSubstring(says))
	}
}

// TestNothingOfFizzBeeIsHeard: what it prints, with its colours and temporary files, is its own affair.
func TestNothingOfFizzBeeIsHeard(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "clock.fizz")
	g.Expect(os.WriteFile(path, []byte(good), 0o600)).To(Succeed())
	var out, errs bytes.Buffer
	g.Expect(run(t.Context(), []string{path}, &out, &errs)).To(Equal(0))
	g.Expect(errs.String()).To(BeEmpty())
	g.Expect(out.String()).To(MatchRegexp(`^` + regexp.QuoteMeta("spec=clock nodes=3 states=3 verdict=PASSED") + `\n$`))
	left, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(1), "and it leaves nothing beside the spec")
}
