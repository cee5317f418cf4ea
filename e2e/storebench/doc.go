// Command storebench measures what `antiphon once` adds to a request: the same service without the proxy, through it without a key, and with a key, in memory
// and in files, synced and not. It measures runs in the same stores. Beside it stands the floor: one write of a file that is synced. `make bench-store` runs it.
package main
