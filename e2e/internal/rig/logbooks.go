package rig

// The logbooks of a server, played again.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/session"
)

// Replay plays each logbook in a folder. The error names those that do not play as they were recorded, up to the end of their sessions.
// Replay adds a line with the name of the test's program for each of them to the file that ANTIPHON_REPLAYED names, so that scripts/e2e.sh can count.
func Replay(folder string) (err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.logbook"))
	if name := os.Getenv("ANTIPHON_REPLAYED"); name != "" && err == nil {
		counts, failed := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if failed != nil {
			return failed
		}
		_, failed = counts.WriteString(strings.Repeat(filepath.Base(os.Args[0])+"\n", len(files)))
		err = errors.Join(failed, counts.Close())
	}
	for _, name := range files {
		f, failed := os.Open(name)
		if failed != nil {
			return failed
		}
		played, failed := session.Replay(f, func(logbook.Moment) error { return nil })
		if failed == nil && played.End != logbook.Over {
			failed = fmt.Errorf("it ends after %d entries: %s", played.Entries, played.End)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", filepath.Base(name), failed))
		}
		err = errors.Join(err, f.Close())
	}
	return err
}
