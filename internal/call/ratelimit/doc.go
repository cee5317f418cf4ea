// Package ratelimit limits how many responses a session may have and how many tokens they may use. A session uses
// the Limiter of its principal, or has its own.
package ratelimit
