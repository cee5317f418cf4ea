// Package parakeet recognises speech with parakeet.cpp, through its C library. The library is opened at run time, without cgo, in back-end
// processes of ours. So a crash of the library fails one turn at most, and the server's process has no code of it.
//
// A model that streams gives captions while the user speaks, and says itself that an utterance or a backchannel has ended. Another model
// decodes each utterance at its end.
//
// The names and the types of the functions are those of parakeet_capi.h, the header in parakeet.cpp's repository. The tests run with a small
// library of their own that has the same functions.
package parakeet
