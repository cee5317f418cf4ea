//go:build !unix

package httpguard

// The number of descriptors that the process may open, on systems without such a limit.

// descriptors returns how many sockets are fine where the system states no limit.
func descriptors() int { return 2 * maxConnections }
