package sherpa

// This file speaks with a voice model.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// modelFile is the file of a Piper voice, in its folder beside tokensFile. It has the metadata that sherpa-onnx reads.
const modelFile = "model.onnx"

// The settings of Piper's voices, as their configurations have them.
const (
	piperNoise       = 0.667
	piperNoiseWidth  = 0.8
	piperLengthScale = 1
)

// Limits of the speed of speech. Beyond them the model cannot be understood.
const (
	minSpeed = 0.5
	maxSpeed = 2
)

// Voice is a backend.Speaker. Only one goroutine may use it.
type Voice struct {
	lib      *library
	handle   uintptr
	rate     int
	name     string
	callback uintptr

	emit  func(pcm []float32) error // of the clause that is being spoken
	broke error                     // the error of emit
}

// NewVoice loads the library and a Piper voice. library, model and pronunciation are their folders. threads is how many processors one
// clause takes; 0 means 1. With even, each synthesis of a text is the same. Otherwise two differ a little, as Piper's voices are meant to.
// Its errors wrap ErrLibrary, ErrVersion or ErrModel.
func NewVoice(library, model, pronunciation string, threads int, even bool) (*Voice, error) {
	for _, name := range []string{filepath.Join(model, modelFile), filepath.Join(model, tokensFile), filepath.Join(pronunciation, "phontab")} {
		if _, err := os.Stat(name); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrModel, err)
		}
	}
	lib, err := open(library)
	if err != nil {
		return nil, err
	}
	noise, width := float32(piperNoise), float32(piperNoiseWidth)
	if even {
		noise, width = 0, 0
	}
	c := &ttsConfig{maxNumSentences: 1, silenceScale: 0.2, model: ttsModelConfig{
		numThreads: int32(max(threads, 1)), provider: dynlib.CString("cpu"), vits: vitsConfig{
			model: dynlib.CString(filepath.Join(model, modelFile)), tokens: dynlib.CString(filepath.Join(model, tokensFile)), dataDir: dynlib.CString(pronunciation),
			noiseScale: noise, noiseScaleW: width, lengthScale: piperLengthScale,
		},
	}}
	h := lib.newVoice(c)
	runtime.KeepAlive(c)
	if h == 0 {
		return nil, fmt.Errorf("%w: %s", ErrModel, model)
	}
	v := &Voice{lib: lib, handle: h, rate: int(lib.voiceRate(h)), name: filepath.Base(model)}
	v.callback = purego.NewCallback(v.part)
	return v, nil
}

func (v *Voice) Info() backend.Info {
	return backend.Info{Name: "sherpa", Detail: fmt.Sprintf("%s, %d Hz, sherpa-onnx %s", v.name, v.rate, Version), Rate: v.rate}
}

// part is the callback of the library: it takes the audio of one sentence. It returns 0 to end the synthesis.
func (v *Voice) part(samples *float32, n int32, _ float32, _ uintptr) uintptr {
	if v.broke == nil && samples != nil && n > 0 {
		v.broke = v.emit(unsafe.Slice(samples, n))
	}
	if v.broke != nil {
		return 0
	}
	return 1
}

func (v *Voice) Speak(_ context.Context, s backend.Speech, emit func(pcm []float32) error) error {
	v.emit, v.broke = emit, nil
	speed := s.Speed
	if speed == 0 {
		speed = 1
	}
	c := &generationConfig{silenceScale: 0.2, speed: float32(min(max(speed, minSpeed), maxSpeed))}
	audio := v.lib.generate(v.handle, dynlib.CString(s.Text), c, v.callback, 0)
	runtime.KeepAlive(c)
	if audio != 0 { // 0: there is nothing to say in the text
		v.lib.freeAudio(audio)
	}
	return v.broke
}

func (v *Voice) Close() error {
	v.lib.freeVoice(v.handle)
	return nil
}
