// Command enginebench measures the engines of speech that run on this machine: sherpa (neural) and flite. `make
// bench-models` runs it. It prints tables in Markdown.
//
// The recognisers get sentences that a person speaks, at the speed of speech, as in a call. The synthesizers get clauses of three lengths.
package main
