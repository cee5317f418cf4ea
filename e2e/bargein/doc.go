// Command bargein measures what a person hears when they talk over the agent: in a real Chromium, against the real server, through a
// link that delays and loses packets, at the output of the tab. Beside each figure stands what else there is, measured in the same run.
//
//	bargein [-rows silence,cough,…] [-n N] [-echo 5m] [-out FILE]
//
// It prints a table and writes it with the machine and the commit. It ends with 1 when a target that is hard was missed. It is run from
// the repository's folder; `make bench-bargein` builds what it needs.
package main
