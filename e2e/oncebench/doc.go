// Command oncebench measures what `antiphon once` adds to a request: the same service without the proxy, through it without a key, and with a key, in memory
// and in files, synced and not. Beside it stands the floor: one write of a file that is synced. `make bench-once` runs it.
package main
