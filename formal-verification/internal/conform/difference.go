package conform

// The error for a difference between a specification and the code, with the shortest way to it.

import (
	"strings"
)

// Difference is the first difference between spec and code: the labels of the shortest way to it, and what each of them does there.
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
