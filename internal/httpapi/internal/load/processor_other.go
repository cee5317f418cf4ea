//go:build !unix

package load

import "time"

// Other systems are not asked for processor time.

// ProcessorTime returns 0: no limit of processor time holds.
func ProcessorTime() time.Duration { return 0 }
