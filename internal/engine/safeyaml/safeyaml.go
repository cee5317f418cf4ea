// Package safeyaml decodes YAML that may be anything.
package safeyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
)

// Decode decodes the first document of src into the value that into points to. A src without a document changes nothing. Unknown keys are errors. The library panics on some
// texts, such as a tag of one's own before a value where a list is due: Decode returns an error for them.
func Decode(src []byte, into any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("the YAML cannot be read: %v: remove tags (!name), anchors and aliases", failed)
		}
	}()
	err = yaml.NewDecoder(bytes.NewReader(src), append(options, yaml.Strict())...).Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
