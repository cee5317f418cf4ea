package models

// This file converts files of a package into the form that an engine reads. Each conversion gives the same bytes every time, so that the
// catalogue can have their SHA-256.

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxConverted is the size of the largest file that a conversion reads into memory, in bytes.
const maxConverted = 64 << 20

// converters returns the conversions by their names. Each changes the file at path in place.
func converters() map[string]func(path string, f File) error {
	return map[string]func(path string, f File) error{
		"token-table": rewrite(tokenTable), "piper-tokens": rewrite(piperTokens), "onnx-metadata": onnxMetadata,
	}
}

// rewrite returns a conversion that reads a whole file and writes what convert returns.
func rewrite(convert func([]byte) ([]byte, error)) func(string, File) error {
	return func(path string, _ File) error {
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		if st.Size() > maxConverted {
			return fmt.Errorf("%d bytes to convert, the limit is %d", st.Size(), maxConverted)
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out, err := convert(src)
		if err != nil {
			return err
		}
		return os.WriteFile(path, out, 0o644)
	}
}

var errTokens = errors.New("not a table of tokens")

// tokenTable converts Moonshine's tokenizer.bin to the tokens.txt that sherpa-onnx reads. The source has each token as its length (one
// byte, or two with the high bit set in the first one, low 7 bits first) and its bytes. The result has a line for each token: the
// token in base64, a space, and its number.
func tokenTable(src []byte) ([]byte, error) {
	var out []byte
	for id := 0; len(src) > 0; id++ {
		n := int(src[0])
		src = src[1:]
		if n >= 128 {
			if len(src) == 0 {
				return nil, errTokens
			}
			n += int(src[0])*128 - 128
			src = src[1:]
		}
		if n > len(src) {
			return nil, errTokens
		}
		out = fmt.Appendf(out, "%s %d\n", base64.StdEncoding.EncodeToString(src[:n]), id)
		src = src[n:]
	}
	return out, nil
}

// piperTokens converts the configuration of a Piper voice (.onnx.json) to the tokens.txt that sherpa-onnx reads: a line for each
// phoneme with its number, in the order of the numbers.
func piperTokens(src []byte) ([]byte, error) {
	var voice struct {
		Phonemes map[string][]int `json:"phoneme_id_map"`
	}
	if err := json.Unmarshal(src, &voice); err != nil {
		return nil, err
	}
	type token struct {
		text string
		id   int
	}
	var tokens []token
	for text, ids := range voice.Phonemes {
		if len(ids) != 1 || strings.ContainsAny(text, "\n\r") {
			return nil, errTokens
		}
		tokens = append(tokens, token{text, ids[0]})
	}
	slices.SortFunc(tokens, func(a, b token) int {
		if a.id != b.id {
			return a.id - b.id
		}
		return strings.Compare(a.text, b.text)
	})
	var out []byte
	for _, t := range tokens {
		out = fmt.Appendf(out, "%s %d\n", t.text, t.id)
	}
	return out, nil
}

// Numbers of fields in the messages of ONNX (onnx.proto): ModelProto.metadata_props, StringStringEntryProto.key and .value.
const (
	fieldMetadata = 14
	fieldKey      = 1
	fieldValue    = 2
)

// onnxMetadata appends metadata to an ONNX file, which sherpa-onnx reads. ONNX files are protocol buffers, and a repeated field of such a
// file may stand anywhere in it, also at its end.
func onnxMetadata(path string, f File) error {
	var tail []byte
	for _, m := range f.Metadata {
		key, value, _ := strings.Cut(m, "=")
		entry := protowire.AppendString(protowire.AppendTag(nil, fieldKey, protowire.BytesType), key)
		entry = protowire.AppendString(protowire.AppendTag(entry, fieldValue, protowire.BytesType), value)
		tail = protowire.AppendBytes(protowire.AppendTag(tail, fieldMetadata, protowire.BytesType), entry)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(tail)
	return errors.Join(err, file.Close())
}
