// Package noisebench measures how Antiphon listens where it is not quiet, with Go benchmarks: `make bench-listening` runs them.
//
// BenchmarkNoise counts the wrong words of the recogniser, with and without noise reduction. BenchmarkVoices, BenchmarkOnsets, BenchmarkSofter and
// BenchmarkPauses let people talk in the background of a caller. BenchmarkCalls places calls in noise, with a bad microphone, and over a bad network. In
// BenchmarkOver the person speaks over the agent. BenchmarkTurns measures turn-taking as tau-voice does: `make bench-turns` runs it. All speech is that of a person: Debian's prompts for telephone systems.
package noisebench
