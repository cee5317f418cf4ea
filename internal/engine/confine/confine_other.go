//go:build !linux

package confine

// Other systems have no limits of processes.

// apply does nothing.
func apply(int, Limits) error {
	_ = files
	return nil
}
