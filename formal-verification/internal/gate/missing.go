package gate

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
)

// The list of what the adapters never offer the code, specs/never_offered.txt: one section for each spec, and one for what none
// of the session's specs offers.

// missingHead is the head of that file.
const missingHead = `# What the adapters of the specifications never offer the code: the comparison of specification and code cannot see a fault that
# shows there alone. Each line has a machine, one of its states, and the events that the adapter never sends there; with
# "field=value" it sends the event, but never with that value. "never": no event is ever sent in that state. An identifier is
# "its own" where the state has it. "settings" has the settings of a session that are on, and those that they never change to.
# make verify-spec compares this list; cd formal-verification && go run ./cmd/gate -rewrite writes it.
`

// inNoSession is the section of what none of the session's specs offers.
const inNoSession = "session, all together"

// ofSession says whether a spec is one of those of the composed session.
func ofSession(name string) bool { return name == "session" || strings.HasPrefix(name, "session_") }

// missing returns the sections of the list. Without all, the one of the session's specs together is left out.
func (r Report) missing(all bool) map[string]string {
	out := map[string]string{}
	var sessions []*conform.Offers
	for _, s := range r.Specs {
		if len(s.Problems) > 0 || s.Missing == nil {
			continue
		}
		out[s.Name] = missingLines(s.Missing)
		if s.offers != nil && ofSession(s.Name) {
			sessions = append(sessions, s.offers)
		}
	}
	if all && len(sessions) > 0 {
		out[inNoSession] = missingLines(conform.Together(sessions...).Missing())
	}
	return out
}

func missingLines(missing map[string][]string) string {
	var b strings.Builder
	for _, at := range sorted(missing) {
		_, _ = fmt.Fprintf(&b, "  %s: %s\n", at, strings.Join(missing[at], ", "))
	}
	return b.String()
}

// CompareMissing adds to the report where the list in a file is another than what was found.
func (r *Report) CompareMissing(file string, all bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		r.Problems = append(r.Problems, "read what the adapters never offer: "+err.Error())
		return
	}
	was := readMissing(string(text))
	found := r.missing(all)
	for _, name := range sorted(found) {
		if what := otherLines(was[name], found[name]); what != "" {
			r.Problems = append(r.Problems, name+": what its adapter never offers is not as in never_offered.txt; if that is meant, -rewrite\n"+what)
		}
	}
	red := slices.ContainsFunc(r.Specs, func(s SpecReport) bool { return len(s.Problems) > 0 })
	for _, name := range sorted(was) {
		if _, is := found[name]; all && !is && !red {
			r.Problems = append(r.Problems, name+": never_offered.txt has a section of it, and there is no such spec")
		}
	}
}

func readMissing(text string) map[string]string {
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"), strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, " "):
			out[name] += line
		default:
			name = strings.TrimSpace(line)
			out[name] = ""
		}
	}
	return out
}

// otherLines returns the lines that one of two texts has alone, with a sign, or "".
func otherLines(was, is string) string {
	before, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	out := ""
	for _, l := range before {
		if !slices.Contains(now, l) {
			out += "-" + l + "\n"
		}
	}
	for _, l := range now {
		if !slices.Contains(before, l) {
			out += "+" + l + "\n"
		}
	}
	return out
}

// RewriteMissing writes the list of a run of all specs.
func (r Report) RewriteMissing(file string) error {
	found := r.missing(true)
	var b strings.Builder
	b.WriteString(missingHead)
	for _, name := range sorted(found) {
		b.WriteString("\n" + name + "\n" + found[name])
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write what the adapters never offer: %w", err)
	}
	return nil
}
