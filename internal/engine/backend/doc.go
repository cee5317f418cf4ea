// Package backend runs speech engines: in this process (InProcess), or each in a process of its own, so that a crash of an engine
// costs at most one turn and never the server. Pool is the server's side of such a process, ServeStdio is the engine's side.
//
// # Protocol
//
// Both sides send frames. A frame is four bytes of length (little endian; the length of kind and body), one byte of kind, and the
// body. Kind and body together have at most MaxFrame bytes. The frames are:
//
//	engine  H  {"name","detail","live","probs","rate"}        once, at the begin
//	server  C  {"model","language","prompt","live"}           an utterance begins
//	engine  R                                                 it is open; or
//	        U  text                                           the engine does not support the configuration (no live results)
//	server  A  float32 samples, mono, 16 kHz                  any number of them, of any length
//	engine  P  {"text","eou","eob","through_ms"}              the partial text, each time it changes
//	server  E                                                 the audio has ended
//	engine  F  {"text","eou","eob","words"}                   the final text; the utterance is over
//	server  X                                                 at any time: the server cancels the utterance
//	engine  D                                                 the engine has dropped it
//	engine  Z  text                                           the utterance has failed; the engine still works
//
// With a Speaker, the frames between H and the end are:
//
//	server  S  {"text","voice","speed"}                       a clause begins
//	engine  O  float32 samples, mono                          any number of them, at the "rate" of H
//	engine  Y                                                 the clause is over
//	server  X, engine D, engine Z                  as above
//
// One utterance follows another. A frame that the protocol does not allow ends the connection.
package backend
