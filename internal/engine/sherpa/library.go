package sherpa

// This file opens the library, checks its version, and binds its functions.

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// Version is the version of sherpa-onnx whose structs cstructs.go has. The library has no other way to say which structs it takes.
const Version = "1.13.8"

// Errors of the library and of models.
var (
	// ErrLibrary: the library cannot be opened.
	ErrLibrary = errors.New("the library of sherpa-onnx cannot be used")
	// ErrVersion: the library has another version.
	ErrVersion = errors.New("the library of sherpa-onnx has another version")
	// ErrModel: the library does not take the model.
	ErrModel = errors.New("sherpa-onnx cannot use the model")
)

// library has the functions of the C library that this package calls.
type library struct {
	version func() string

	newRecognizer  func(config *recognizerConfig) uintptr
	freeRecognizer func(recognizer uintptr)
	newStream      func(recognizer uintptr) uintptr
	freeStream     func(stream uintptr)
	accept         func(stream uintptr, rate int32, pcm *float32, n int32)
	decode         func(recognizer, stream uintptr)
	result         func(stream uintptr) *recognizerResult
	freeResult     func(result *recognizerResult)

	newVoice  func(config *ttsConfig) uintptr
	freeVoice func(voice uintptr)
	voiceRate func(voice uintptr) int32
	generate  func(voice uintptr, text *byte, config *generationConfig, callback, arg uintptr) (audio uintptr)
	freeAudio func(audio uintptr)
}

// open opens the library in that folder, which has ONNX Runtime beside it.
func open(folder string) (*library, error) {
	if _, err := dynlib.Open(filepath.Join(folder, "libonnxruntime.so")); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	h, err := dynlib.Open(filepath.Join(folder, "libsherpa-onnx-c-api.so"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	var l library
	if err := dynlib.Bind(h, "SherpaOnnx", ErrLibrary, map[string]any{"GetVersionStr": &l.version}); err != nil {
		return nil, err
	}
	if v := l.version(); v != Version {
		return nil, fmt.Errorf("%w: %q, want %s", ErrVersion, v, Version)
	}
	return &l, dynlib.Bind(h, "SherpaOnnx", ErrLibrary, map[string]any{
		"CreateOfflineRecognizer": &l.newRecognizer, "DestroyOfflineRecognizer": &l.freeRecognizer,
		"CreateOfflineStream": &l.newStream, "DestroyOfflineStream": &l.freeStream,
		"AcceptWaveformOffline": &l.accept, "DecodeOfflineStream": &l.decode,
		"GetOfflineStreamResult": &l.result, "DestroyOfflineRecognizerResult": &l.freeResult,
		"CreateOfflineTts": &l.newVoice, "DestroyOfflineTts": &l.freeVoice,
		"OfflineTtsSampleRate":         &l.voiceRate,
		"OfflineTtsGenerateWithConfig": &l.generate, "DestroyOfflineTtsGeneratedAudio": &l.freeAudio,
	})
}

// maxText is the longest text of the library, in bytes.
const maxText = 64 << 10
