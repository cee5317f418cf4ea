// Package enginebench measures the engines of speech that run on this machine, sherpa (neural) and flite, with Go benchmarks: `make bench-models` runs
// them.
//
// The recogniser gets sentences that a person speaks, at the speed of speech, as in a call. The synthesizers get clauses of three lengths.
package enginebench
