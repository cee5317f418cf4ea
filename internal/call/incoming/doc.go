// Package incoming makes one unbroken stream of PCM from the RTP packets of a client: the jitter buffer puts them into order, the
// receiver decodes them, conceals what is lost and fills pauses with silence. It has no clock, no goroutine and no socket: packets and
// times come from the caller. PCM is mono, 16 bit, at opus.Rate.
package incoming
