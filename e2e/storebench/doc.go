// Package storebench measures what antiphon once adds to a request, runs, and calls that another server takes over: `make bench-store`.
package storebench
