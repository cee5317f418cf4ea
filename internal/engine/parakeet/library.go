package parakeet

// This file opens the library, checks its version, and binds its functions.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// The versions of the C interface that this package knows. In version 4 and before, an end of utterance cannot be told from the end of a
// backchannel. Versions 6 to 10 add functions and leave those that this package calls as they are, as parakeet_capi.h says.
const (
	MinABI = 5
	MaxABI = 10
)

// Errors of the library and of models.
var (
	// ErrLibrary: the library cannot be opened, or lacks a function.
	ErrLibrary = errors.New("the library of parakeet.cpp cannot be used")
	// ErrVersion: the library has a version of the C interface that this package does not know.
	ErrVersion = errors.New("the library of parakeet.cpp has another version")
	// ErrModel: the library does not take the model.
	ErrModel = errors.New("parakeet.cpp cannot use the model")
	// ErrDecode: the library could not decode the audio.
	ErrDecode = errors.New("parakeet.cpp could not decode")
)

// library has the functions of the C library that this package calls. A model and a stream are opaque pointers; 0 is none. The caller
// frees each text that is a *byte with freeText, except for that of lastError.
type library struct {
	version   func() int32
	load      func(path string) (model uintptr)
	free      func(model uintptr)
	lastError func(model uintptr) *byte
	freeText  func(text *byte)

	begin  func(model uintptr, language string) (stream uintptr)
	feed   func(stream uintptr, pcm *float32, n int32) (document *byte)
	finish func(stream uintptr) (document *byte)
	end    func(stream uintptr)

	transcribe func(model uintptr, pcm *float32, n, rate, decoder int32, language string) (text *byte)
}

// open opens the library with that path, or with that name where the system looks for libraries.
func open(path string) (*library, error) {
	h, err := dynlib.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	var l library
	if err := dynlib.Bind(h, "parakeet_capi_", ErrLibrary, map[string]any{"abi_version": &l.version}); err != nil {
		return nil, err
	}
	if v := l.version(); v < MinABI || v > MaxABI {
		return nil, fmt.Errorf("%w: %s has version %d of the C interface, want %d to %d", ErrVersion, path, v, MinABI, MaxABI)
	}
	return &l, dynlib.Bind(h, "parakeet_capi_", ErrLibrary, map[string]any{
		"load": &l.load, "free": &l.free, "last_error": &l.lastError, "free_string": &l.freeText,
		"stream_begin_lang": &l.begin, "stream_feed_json": &l.feed, "stream_finalize_json": &l.finish, "stream_free": &l.end,
		"transcribe_pcm_lang": &l.transcribe,
	})
}

// take returns a text of the library, and frees it. nil means that the call has failed: then it returns the last error of the model.
func (l *library) take(text *byte, model uintptr) (string, error) {
	if text == nil {
		return "", fmt.Errorf("%w: %s", ErrDecode, l.why(model))
	}
	defer l.freeText(text)
	s, whole := dynlib.GoString(text, maxCString)
	if !whole {
		return "", fmt.Errorf("%w: a text is longer than %d bytes", ErrDecode, maxCString)
	}
	return strings.ToValidUTF8(s, "\uFFFD"), nil
}

// why returns the last error of the model, in words.
func (l *library) why(model uintptr) string {
	if s, _ := dynlib.GoString(l.lastError(model), maxCString); s != "" {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return "the library does not say why"
}

// maxCString is the longest text that the library may give, in bytes. The words of one call to the library are in it.
const maxCString = 256 << 10
