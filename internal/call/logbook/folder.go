package logbook

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The folder of the logbooks. Each name begins with a number that grows, because the clock of a machine may go back.

const suffix = ".logbook"

// Named reports whether a file's name is that of a logbook.
func Named(name string) bool { return strings.HasSuffix(name, suffix) }

// number returns the number with which the name of a logbook begins; 0 for one of a version that had none.
func number(name string) uint64 {
	text, _, _ := strings.Cut(name, "_")
	n, _ := strconv.ParseUint(text, 10, 32)
	return n
}

// In returns the names of the logbooks in a folder, the oldest first.
func In(folder string) (names []string, err error) {
	files, err := os.ReadDir(folder) // sorted by name
	for _, f := range files {
		if f.Type().IsRegular() && Named(f.Name()) {
			names = append(names, f.Name())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(number(a)) - int(number(b)) }) //nolint:gosec // 32 bits each
	return names, err
}

// Create makes the file of a session's logbook, and removes the oldest logbooks, so that there are at most kept. One goroutine calls it at a time.
func Create(folder, session string, kept int, now time.Time) (io.WriteCloser, error) {
	names, err := In(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names[:max(0, len(names)-max(1, kept)+1)] {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	next := uint64(1)
	if len(names) > 0 {
		next += number(names[len(names)-1])
	}
	name := fmt.Sprintf("%08d_%s_%s%s", next, now.UTC().Format("2006-01-02T15-04-05.000000Z"), filepath.Base(session), suffix)
	return os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
