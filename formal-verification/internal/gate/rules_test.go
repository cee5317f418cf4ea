package gate

// Tests of the house rules on faulty copies of a small specification.

import (
	"fmt"
	"strings"
	"testing"

	ast "fizz/proto"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// lamp is a spec without a fault; the tests spoil copies of it.
const lamp = `---
deadlock_detection: false
options:
  max_actions: 100
  max_concurrent_actions: 1
  crash_on_yield: false
---
# A lamp that is switched on and off, and counts to LAST how often.
LAST = 3

def lit(on):
    return on == True

action Init:
    on = False
    times = 0
    fx = []

atomic action On:
    require not on and times < LAST
    on = True
    times = times + 1
    fx = ["Light"]

atomic fair action Off:
    require on
    on = False
    fx = ["Dark"]

always assertion Counted:
    return times <= LAST

always eventually assertion GoesOut:
    return not on

# ask reachable Worn: times == LAST and not on
# ask always-enabled CanGoOut: Off when lit(on)
# ask responds LitGoesOut: on leads to fx == ["Dark"]
`

func replaceOnce(g gomega.Gomega, text, before, after string) string {
	g.Expect(strings.Count(text, before)).To(gomega.Equal(1), "%q in the text", before)
	return strings.Replace(text, before, after, 1)
}

func mustParse(g gomega.Gomega, text string) *ast.File {
	f, err := parse.File("lamp.fizz", []byte(text))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return f
}

func TestRules(t *testing.T) {
	rules := func(t *testing.T, text string) []string {
		var out []string
		for _, p := range Rules(mustParse(gomega.NewWithT(t), text)) {
			out = append(out, p.String())
		}
		return out
	}
	t.Run("a spec without a fault", func(t *testing.T) {
		gomega.NewWithT(t).Expect(rules(t, lamp)).To(gomega.BeEmpty())
	})
	t.Run("liveness as it is anyway", func(t *testing.T) {
		g := gomega.NewWithT(t)
		g.Expect(rules(t, replaceOnce(g, lamp, "options:", "liveness: strict\noptions:"))).To(gomega.BeEmpty())
	})
	for _, c := range []struct{ name, was, now, said string }{
		{"no front matter", lamp[:strings.Index(lamp, "# A lamp")], "", "line 1: options.max_actions is missing"},
		{"max_actions is missing", "  max_actions: 100\n", "", "line 1: options.max_actions is missing"},
		{"max_concurrent_actions is missing", "  max_concurrent_actions: 1\n", "", "line 1: options.max_concurrent_actions is missing"},
		{"crash_on_yield is missing", "  crash_on_yield: false\n", "", "line 1: options.crash_on_yield is missing"},
		{"deadlock_detection is missing", "deadlock_detection: false\n", "", "line 1: deadlock_detection is missing"},
		{"max_actions is 0", "max_actions: 100", "max_actions: 0", `line 4: options.max_actions is "0", expected a number`},
		{"a flag is no flag", "crash_on_yield: false", "crash_on_yield: no", `line 6: options.crash_on_yield is "no"`},
		{"an option in its other spelling", "max_actions", "maxActions", "line 4: unknown option options.maxActions"},
		{"an option outside its section", "  max_actions: 100", "max_actions: 100", "line 4: unknown option max_actions"},
		{"options of one action", "options:", "action_options:\n  On:\n    max_actions: 1\noptions:", "line 3: unknown option action_options"},
		{"options in a row", "options:", "options: {liveness: false}\nrest:", `line 3: options: found "{liveness: false}"`},
		{"options twice", "options:\n", "options:\n  crash_on_yield: true\noptions:\n", "line 5: options is there twice"},
		{"a tab", "  crash_on_yield", "\tcrash_on_yield", "line 6: unknown option"},
		{"no pair", "options:", "- liveness\noptions:", "line 3: found \"- liveness\" in the front matter"},
		{"continue after a failure", "options:", "continue_on_invariant_failures: true\noptions:", "line 3: unknown option continue_on_invariant_failures"},
		{"a role's assertion", "atomic action On:", "role Switch:\n    always assertion Hidden:\n        return False\n\natomic action On:", "line 20: assertion Hidden stands in role Switch"},
		{"no Init", "action Init:", "atomic action Begin:", "no action Init"},
		{"no assertion", lamp[strings.Index(lamp, "always assertion"):], "", "no assertion: nothing is claimed"},
		{"no action", lamp[strings.Index(lamp, "atomic action On"):strings.Index(lamp, "always assertion")], "", "no action beside Init"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(rules(t, replaceOnce(g, lamp, c.was, c.now))).To(gomega.ContainElement(gomega.HavePrefix(c.said)))
		})
	}
	for _, liveness := range []string{
		"liveness: false", "liveness: False", "liveness: off", "liveness: no", "liveness: disabled", "liveness: strct",
		"liveness: Strict", "liveness: strict/bfs", "liveness: \"strict\"", "liveness:", "liveness:false", "Liveness: false",
		"livness: strict", "liveness : false", "\"liveness\": false", "'liveness': false", "? liveness", "liveness: strict\nliveness: false",
		"<<: {liveness: false}", "liveness: !!bool false", "{liveness: false}",
	} {
		t.Run(liveness, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(rules(t, replaceOnce(g, lamp, "options:", liveness+"\noptions:"))).NotTo(gomega.BeEmpty())
		})
		t.Run("in the options "+liveness, func(t *testing.T) {
			g := gomega.NewWithT(t)
			inside := fmt.Sprintf("options:\n  %s\n", strings.ReplaceAll(liveness, "\n", "\n  "))
			g.Expect(rules(t, replaceOnce(g, lamp, "options:\n", inside))).NotTo(gomega.BeEmpty())
		})
	}
}
