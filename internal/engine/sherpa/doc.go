// Package sherpa recognises and speaks with neural models, through the C library of sherpa-onnx. The library is opened at run time, without
// cgo, in back-end processes of ours. So a crash of the library fails one turn at most, and the server's process has no code of it.
//
// Package models fetches the library and the weights. Recogniser and Synthesizer are the two stages, each with a configuration of its own.
//
// # Recognition
//
// The model decodes whole recordings. For live captions the engine decodes the growing utterance again and again (stream.go). It cuts a
// long utterance at pauses, so that one decoding stays short. When the user pauses, it decodes at once. So the final text is there
// when the turn ends, unless the user spoke again.
package sherpa
