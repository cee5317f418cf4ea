// Package smartturn hears whether a user has finished a turn, with the neural model Smart Turn v3. Its answers are one part of the estimate of package
// endofturn.
//
// The model takes the log-mel spectrogram of the last 8 s (features.go) and gives a probability. ONNX Runtime runs it: the library that sherpa-onnx
// brings, opened at run time, without cgo (runtime.go), in back-end processes of ours. So a crash or a hang of the library costs one answer, and the
// estimate is made without it.
//
// Package models fetches the library and the model.
package smartturn
