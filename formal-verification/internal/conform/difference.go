package conform

// The error for a difference between a specification and the code, with the shortest way to it.

import (
	"strings"
)

// Difference is where spec and code part: the shortest way there, by the spec's
// labels, and what each of them then does.
type Difference struct {
	Path []string
	What string
}

func (d *Difference) Error() string {
	if len(d.Path) == 0 {
		return d.What
	}
	return "after " + strings.Join(d.Path, ", ") + ": " + d.What
}
