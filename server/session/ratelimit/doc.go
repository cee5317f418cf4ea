// Package ratelimit limits how many responses a session may have and how many tokens they may use. A session takes a
// Limiter from whoever pays for it, or has one of its own.
package ratelimit
