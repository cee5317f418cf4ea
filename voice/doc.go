// Package voice is the signal code that both ends share: voice activity, resampling, levels, PCM conversion and G.711.
//
// Everything here is pure: samples in, samples or a decision out. There is no clock (time is counted in samples), no
// goroutine, no lock, no random number and, in steady state, no allocation. A value belongs to one goroutine at a time.
package voice
