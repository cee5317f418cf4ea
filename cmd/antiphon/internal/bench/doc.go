// Package bench measures the server on this machine: latencies, processor time, memory, and many calls at a time. Each figure
// has a reference that is measured in the same run, because machines differ. It prints figures and does not judge them.
package bench
