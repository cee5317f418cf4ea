package check_test

// Compares our results with the recorded results of FizzBee's examples.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// baselines is how many examples with a recorded outcome FizzBee ships in its module.
const baselines = 108

// long are the examples that the normal run leaves out, with what they cost; LONG=1 runs them too.
var long = map[string]string{
	"13-01-03-distributed-lock": "131,367 nodes, two minutes of one core, 7 GB",
}

// differs says why our verdict is another than the recorded one, and right.
var differs = map[string]struct {
	theirs, ours string
	because      string
}{
	"09-12-exists-simulation-warning": {
		theirs:  "verdict=NONE",
		ours:    "nodes=4 states=4 verdict=FAILED assertion=ImpossibleProbe",
		because: "recorded is one random walk, which can only warn that it saw no witness; the whole graph has none",
	},
}

// flags are what examples ask of the command line, and why we need no such flag.
var flags = map[string]string{
	"--experimental_no_graph": "explores the same states and throws the graph away",
	"-x\n--seed 42":           "walks at random once: see differs",
}

// recorded is what an example's baseline says.
type recorded struct {
	name, spec string
	line       string
}

func TestReferencesOfFizzBee(t *testing.T) {
	g := NewWithT(t)
	examples := references(t)
	g.Expect(examples).To(HaveLen(baselines))

	lines := make([]string, len(examples))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, e := range examples {
		if long[e.name] != "" && os.Getenv("LONG") == "" {
			lines[i] = e.line
			continue
		}
		group.Go(func() error {
			r, err := plain(t.Context(), e.spec)
			lines[i] = line(e, r)
			return err
		})
	}
	g.Expect(group.Wait()).To(Succeed())
	for i, e := range examples {
		if d, ok := differs[e.name]; ok {
			g.Expect(e.line).To(Equal(d.theirs), e.name)
			g.Expect(lines[i]).To(Equal(d.ours), "%s: %s", e.name, d.because)
			continue
		}
		g.Expect(lines[i]).To(Equal(e.line), e.name)
	}
}

func plain(ctx context.Context, path string) (check.Result, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return check.Result{}, err
	}
	f, err := parse.File(path, src)
	if err != nil {
		return check.Result{}, err
	}
	r, err := check.Spec(ctx, f, check.Options{Plain: true, Dir: filepath.Dir(path), Timeout: 20 * time.Minute})
	if err != nil {
		return check.Result{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// line is a result in the words of a baseline, which counts states only where all was explored.
func line(e recorded, r check.Result) string {
	out := fmt.Sprintf("nodes=%d", r.Nodes)
	if strings.Contains(e.line, "states=") || differs[e.name].because != "" {
		out += fmt.Sprintf(" states=%d", r.States)
	}
	out += " verdict=" + string(r.Verdict)
	if r.Assertion != "" {
		out += " assertion=" + r.Assertion
	}
	return out
}

// references are the examples in FizzBee's module that have a baseline.
func references(t *testing.T) []recorded {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/fizzbee-io/fizzbee").Output()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "examples", "references", "*", "baseline.txt"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var out []recorded
	for _, file := range files {
		folder := filepath.Dir(file)
		if asked, err := os.ReadFile(filepath.Join(folder, "flags.txt")); err == nil {
			NewWithT(t).Expect(flags).To(HaveKey(strings.TrimSpace(string(asked))), folder)
		}
		specs, err := filepath.Glob(filepath.Join(folder, "*.fizz"))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(specs).NotTo(BeEmpty(), folder)
		text, err := os.ReadFile(file)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		out = append(out, recorded{name: filepath.Base(folder), spec: specs[0], line: summary(string(text))})
	}
	return out
}

var (
	counted   = regexp.MustCompile(`(?m)^Valid Nodes: (\d+) Unique states: (\d+)$`)
	uncounted = regexp.MustCompile(`(?m)^Visited entries: (\d+)  Unique states: (\d+)$`)
	visited   = regexp.MustCompile(`(?m)^Nodes: (\d+), queued: \d+`)
	failed    = regexp.MustCompile(`(?m)^(?:FAILED: Model checker failed\. (?:Transition )?Invariant:|Invariant(?: \d+)?:) +(\w+)$`)
)

// summary reads an outcome from what FizzBee printed. Without a graph it counts what it visited,
// and at a failure it counts no states.
func summary(text string) string {
	var out []string
	if m := counted.FindStringSubmatch(text); m != nil {
		out = append(out, "nodes="+m[1], "states="+m[2])
	} else if m := uncounted.FindStringSubmatch(text); m != nil {
		out = append(out, "nodes="+m[1], "states="+m[2])
	} else if m := visited.FindAllStringSubmatch(text, -1); m != nil {
		out = append(out, "nodes="+m[len(m)-1][1])
	}
	switch {
	case strings.Contains(text, "DEADLOCK detected"):
		out = append(out, "verdict=DEADLOCK")
	case strings.Contains(text, "FAILED:"):
		out = append(out, "verdict=FAILED")
	case strings.Contains(text, "PASSED:"):
		out = append(out, "verdict=PASSED")
	default:
		out = append(out, "verdict=NONE")
	}
	if m := failed.FindStringSubmatch(text); m != nil {
		out = append(out, "assertion="+m[1])
	}
	return strings.Join(out, " ")
}
