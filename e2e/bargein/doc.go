// Package bargein measures what a user hears when they talk over the agent: in a real Chromium, with the real server, through a
// simulated network link that delays and loses packets, at the output of the tab. It measures other clients in the same run, for
// comparison. `make bench-bargein` runs its benchmarks. A benchmark fails when a hard target was missed.
package bargein
