// Command bargein measures what a user hears when they talk over the agent: in a real Chromium, with the real server, through a
// simulated network link that delays and loses packets, at the output of the tab. It measures other clients in the same run, for
// comparison.
//
//	bargein [-rows silence,cough,…] [-n N] [-echo 5m] [-out FILE]
//
// It prints a table and writes it with the machine and the commit. Its exit status is 1 when a hard target was missed. Run it in the
// repository's folder; `make bench-bargein` builds what it needs.
package main
