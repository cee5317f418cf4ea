// Package probe tries the stages of a pipeline with real requests: the synthesizer speaks a sentence, the recogniser hears it, and the
// model answers a question. It measures how fast each of them is.
package probe
