// Command drivers plants faults into the drivers of the machines, one at a time, and prints which of them the tests find.
//
// A driver performs what the tables decide: it is trusted by the proofs, so its tests must find its faults. The faults of a place are those of kinds. Each is
// planted by an overlay, so that no file changes, and the tests of its row in rows run. Calls that log, count or lock are left out.
//
// It takes a sample of -n faults, by -seed. With -at it plants the faults of the places that contain this text alone, such as player.go:120.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// rows are the drivers and the tests that must find their faults, the nearest first.
var rows = []struct {
	folder string
	tests  []string
}{
	{"internal/call/session", []string{"./internal/call/session"}},
	{"internal/call/speaking", []string{"./internal/call/speaking", "./internal/call/session"}},
	{"internal/call/listening", []string{"./internal/call/listening", "./internal/call/session"}},
	{"internal/call/survival", []string{"./internal/call/survival", "./internal/call/session", "./internal/httpapi"}},
	{"internal/call/runs", []string{"./internal/call/runs", "./internal/call/session"}},
	{"internal/journal", []string{"./internal/journal/...", "./internal/httpapi"}},
	{"internal/runs", []string{"./internal/runs/..."}},
	{"internal/once", []string{"./internal/once"}},
	{"sdk", []string{"./sdk"}},
	{"sdk/internal/bargein", []string{"./sdk/internal/bargein", "./sdk"}},
	{"sdk/internal/outgoing", []string{"./sdk/internal/outgoing", "./sdk"}},
	{"sdk/internal/reconciliation", []string{"./sdk/internal/reconciliation", "./sdk"}},
	{"sdk/internal/reconnect", []string{"./sdk/internal/reconnect", "./sdk"}},
}

// longest is how long the tests of one fault may take. A fault that makes them hang is found.
const longest = 4 * time.Minute

// result is what the tests say of a fault.
type result int

const (
	unread   result = iota // it does not compile, so it is no fault
	found                  // a test fails
	survives               // all tests pass
)

// outcome is a fault with its result.
type outcome struct {
	fault
	result
}

func main() {
	n := flag.Int("n", 40, "how many faults to plant; 0 plants all")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()/86400), "the seed of the sample; as a rule the day")
	at := flag.String("at", "", "plant the faults of the places that contain this text alone")
	root := flag.String("root", "..", "the folder of the module")
	flag.Parse()
	if err := run(context.Background(), *root, *at, *n, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "drivers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, at string, n int, seed uint64) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	var all []fault
	for i, row := range rows {
		of, err := faultsOf(filepath.Join(root, row.folder), i)
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	fmt.Printf("%d faults can be planted", len(all))
	all = slices.DeleteFunc(all, func(f fault) bool { return !strings.Contains(f.place(), at) })
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // a sample
	if n > 0 && n < len(all) {
		all = all[:n]
	}
	fmt.Printf("; planting %d, seed %d\n", len(all), seed)
	outcomes := make([]outcome, len(all))
	var group sync.WaitGroup
	places := make(chan struct{}, 2)
	for i, f := range all {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			outcomes[i] = outcome{f, plant(ctx, root, f)}
			if outcomes[i].result == survives {
				fmt.Printf("survives: %s: %s: %s\n", f.place(), f.kind, f.line)
			}
		})
	}
	group.Wait()
	return print(outcomes)
}

func plant(ctx context.Context, root string, f fault) result {
	folder, err := os.MkdirTemp("", "drivers-")
	if err != nil {
		return unread
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file, overlay := filepath.Join(folder, "fault.go"), filepath.Join(folder, "overlay.json")
	text, _ := json.Marshal(map[string]map[string]string{"Replace": {f.path: file}})
	if err := errors.Join(os.WriteFile(file, f.text, 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
		return unread
	}
	row := rows[f.row]
	if command(ctx, root, "build", "-overlay="+overlay, "./"+row.folder) != nil {
		return unread
	}
	for _, tests := range row.tests {
		if command(ctx, root, "test", "-overlay="+overlay, "-vet=off", "-failfast", "-timeout=3m", tests) != nil {
			return found
		}
	}
	return survives
}

func command(ctx context.Context, root string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are those of plant
	cmd.Dir = root
	return cmd.Run()
}

// print prints how many faults of each kind and of each driver were found. It returns an error if one in twenty or more survives.
func print(outcomes []outcome) error {
	planted, survived := map[string]int{}, map[string]int{}
	for _, o := range outcomes {
		if o.result == unread {
			continue
		}
		for _, key := range []string{"", " " + o.kind, rows[o.row].folder} {
			planted[key]++
			if o.result == survives {
				survived[key]++
			}
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "faults\tplanted\tfound\tsurvive")
	keys := make([]string, 0, len(planted))
	for key := range planted {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", cmp.Or(strings.TrimSpace(key), "all"), planted[key], planted[key]-survived[key], survived[key])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if 20*survived[""] > planted[""] {
		return fmt.Errorf("%d of %d faults survive: at most one in twenty may", survived[""], planted[""])
	}
	return nil
}
