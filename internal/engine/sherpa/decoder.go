package sherpa

// This file decodes whole recordings with a recognition model.

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The files of a Moonshine model, in its folder.
const (
	moonshineEncoder = "encoder_model.ort"
	moonshineDecoder = "decoder_model_merged.ort"
	tokensFile       = "tokens.txt"
)

// trail is the silence after a recording, in samples: 200 ms. Without it the model mishears the last word: measured with prompts spoken by
// a person, 4.5 % word errors without and 2.4 % with it.
const trail = pipeline.InputRate / 5

// decoder decodes whole recordings. Only one goroutine may use it.
type decoder struct {
	lib    *library
	handle uintptr
	padded []float32 // the recording with silence after it, used again

	library, folder string // of the library and of the model
	threads         int
	aligner         *aligner // nil until somebody wants the times of words
	untimed         bool     // there is none for this model
}

func newDecoder(lib *library, library, folder string, threads int) (*decoder, error) {
	for _, name := range []string{moonshineEncoder, moonshineDecoder, tokensFile} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrModel, err)
		}
	}
	c := &recognizerConfig{
		sampleRate: pipeline.InputRate, featureDim: 80,
		model: offlineModelConfig{
			tokens: dynlib.CString(filepath.Join(folder, tokensFile)), numThreads: int32(threads), provider: dynlib.CString("cpu"),
			moonshine: moonshineConfig{
				encoder: dynlib.CString(filepath.Join(folder, moonshineEncoder)), mergedDecoder: dynlib.CString(filepath.Join(folder, moonshineDecoder)),
			},
		},
		decodingMethod: dynlib.CString("greedy_search"),
	}
	h := lib.newRecognizer(c)
	runtime.KeepAlive(c)
	if h == 0 {
		return nil, fmt.Errorf("%w: %s", ErrModel, folder)
	}
	return &decoder{lib: lib, handle: h, library: library, folder: folder, threads: threads}, nil
}

// text returns what is said in the recording (mono, 16 kHz). It is empty if the model hears nothing.
func (d *decoder) text(pcm []float32) (string, error) {
	d.pad(pcm)
	s := d.lib.newStream(d.handle)
	if s == 0 {
		return "", fmt.Errorf("%w: no stream", ErrModel)
	}
	defer d.lib.freeStream(s)
	d.lib.accept(s, pipeline.InputRate, &d.padded[0], int32(len(d.padded)))
	d.lib.decode(d.handle, s)
	r := d.lib.result(s)
	if r == nil {
		return "", fmt.Errorf("%w: no result", ErrModel)
	}
	defer d.lib.freeResult(r)
	text, _ := dynlib.GoString(r.text, maxText)
	return strings.TrimSpace(strings.ToValidUTF8(text, "")), nil
}

// pad keeps a recording with silence after it.
func (d *decoder) pad(pcm []float32) {
	d.padded = append(append(d.padded[:0], pcm...), make([]float32, trail)...)
}

// prepare loads what times needs, once, and reports whether it is there. What is wrong with it goes to the log of the server.
func (d *decoder) prepare() bool {
	if d.aligner == nil && !d.untimed {
		var err error
		if d.aligner, err = newAligner(d.library, d.folder, d.threads); err != nil {
			d.untimed = true
			fmt.Fprintf(os.Stderr, "%s: no times of words: %v\n", d.folder, err)
		}
	}
	return d.aligner != nil
}

// times returns the words of a text of the recording with their times. prepare was called before.
func (d *decoder) times(pcm []float32, text string) ([]backend.Word, error) {
	d.pad(pcm)
	return d.aligner.times(d.padded, text)
}

func (d *decoder) close() {
	d.lib.freeRecognizer(d.handle)
	if d.aligner != nil {
		d.aligner.close()
	}
}
