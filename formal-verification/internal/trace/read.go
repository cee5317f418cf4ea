package trace

// Explores the specifications against which traces are checked.

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// atOnce is how many specs are explored at the same time.
const atOnce = 2

// wholes are the specs of a session.
var wholes = []string{"session", "session_end", "session_queue", "session_reports", "session_text"}

// Read explores the specs of the named machines, or of all machines. The program must call check.Main first.
func Read(ctx context.Context, folder string, names ...string) ([]*Spec, error) {
	if len(names) == 0 {
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			names = append(names, specOf(name))
		}
		names = append(names, wholes...)
	}
	specs := make([]*Spec, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, name := range names {
		group.Go(func() error {
			path := filepath.Join(folder, name+".fizz")
			text, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("read a spec: %w", err)
			}
			tree, err := parse.File(path, text)
			if err != nil {
				return err
			}
			explored, err := check.Spec(ctx, tree, check.Options{})
			if err != nil {
				return fmt.Errorf("explore %s: %w", path, err)
			}
			if explored.Verdict != "PASSED" || explored.Graph == nil {
				return fmt.Errorf("explore %s: it is %s: see make verify-spec", path, explored.Verdict)
			}
			specs[i], err = NewSpec(name, explored.Graph)
			return err
		})
	}
	return specs, group.Wait()
}
