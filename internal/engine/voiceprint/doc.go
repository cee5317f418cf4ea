// Package voiceprint recognises people by their voices, for the voice gate of a pipeline. A Verifier compares the voice print of a turn with those of
// the people who are enrolled.
//
// A print is 256 numbers that a neural network makes of speech (network.go). The weights are those of Resemblyzer; package models fetches them. Two
// prints are compared by their inner product, which is at most 1. The network runs in Go, in this process, without any library.
//
// A voice is no proof of identity: a recording of an enrolled person passes, and some other people do. docs/benchmarks.md has the measured shares.
package voiceprint
