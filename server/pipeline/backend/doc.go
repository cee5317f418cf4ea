// Package backend runs speech engines: in this process (InProcess), or each in a process of its own, so that a crash costs
// one turn and never the server (Pool on the server's side, ServeStdio or ServeUnix on the engine's).
//
// # Protocol
//
// Both sides send frames: four bytes of length, little endian, which counts the kind and the body; one byte of kind; the body.
// A frame has MaxFrame bytes at most. The messages are those of a live transcription stream:
//
//	engine  H  {"name","detail","live"}            once, at the beginning
//	server  C  {"language","prompt","live"}        an utterance begins
//	engine  R                                      it is open; or
//	        U  text                                the engine has no such thing (no live results)
//	server  A  float32 samples, mono, 16 kHz       any number, any length
//	engine  P  {"text","eou","eob","words"}        what was understood so far, whenever it changes
//	server  E                                      the audio has ended
//	engine  F  {"text","eou","eob","words"}        the final text: the utterance is over
//	server  X                                      instead of all that: the utterance is not wanted any more
//	engine  D                                      it is forgotten
//	engine  Z  text                                the utterance has failed, the engine is fine
//
// Utterances follow one another. What the protocol does not allow ends the connection.
package backend
