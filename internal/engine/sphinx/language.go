package sphinx

// This file loads the language model.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/antiphon-rt/antiphon/internal/engine/dynlib"
)

// phraseShare is the weight of the phrases in the language model. The general model has the rest, so that all of its words can be
// recognised.
const phraseShare = 0.4

const (
	kindAny  = 0 // NGRAM_AUTO
	kindARPA = 1 // NGRAM_ARPA
)

var errLanguage = errors.New("pocketsphinx did not load the language model")

// loadLanguage sets the language model of the decoder: the general one, interpolated with the phrases.
func (d *Decoder) loadLanguage(config uintptr, general string) error {
	path, err := phraseModel()
	if err != nil {
		return err
	}
	defer os.Remove(path)
	models := []uintptr{
		d.lib.readModel(config, general, kindAny, d.lib.logMath(d.ps)),
		d.lib.readModel(config, path, kindARPA, d.lib.logMath(d.ps)),
	}
	for i, m := range models {
		if m == 0 {
			return fmt.Errorf("%w %s", errLanguage, []string{general, path}[i])
		}
	}
	names := []*byte{dynlib.CString("general"), dynlib.CString("phrases")}
	weights := []float32{1 - phraseShare, phraseShare}
	set := d.lib.newModelSet(config, unsafe.SliceData(models), unsafe.SliceData(names), unsafe.SliceData(weights), 2)
	if set == 0 || d.lib.interpolate(set, unsafe.SliceData(names), unsafe.SliceData(weights)) == 0 {
		return fmt.Errorf("%w (interpolation)", errLanguage)
	}
	runtime.KeepAlive(models)
	runtime.KeepAlive(names)
	runtime.KeepAlive(weights)
	if d.lib.setModel(d.ps, "assistant", set) != 0 || d.lib.selectSearch(d.ps, "assistant") != 0 {
		return fmt.Errorf("%w (search)", errLanguage)
	}
	return nil
}

// phraseModel writes the language model of the phrases to a temporary file.
func phraseModel() (path string, err error) {
	all, err := phrases()
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "antiphon-*.lm")
	if err != nil {
		return "", fmt.Errorf("language model: %w", err)
	}
	err = errors.Join(writeARPA(f, all), f.Close())
	if err != nil {
		return "", errors.Join(fmt.Errorf("language model: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}
