package httpapi

import (
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/limits"
)

// The limits of a server and of each principal, client secret and client address.

// Rates limit what one principal uses in a minute; without keys, what all clients use together. 0 is no limit.
type Rates = limits.Rates

// Limits limit what a server and its clients take. 0 takes the default of each.
type Limits = limits.Limits

// maxBody is the size of a request's body, in bytes.
const maxBody = 1 << 20

// shareOfAll returns which part of all a principal may have, unless a limit says so: 1 for all, 2 for half.
func shareOfAll(keys apikey.Keys) int {
	if keys.Principals() > 1 {
		return 2
	}
	return 1
}
