package strict

// Reading and parsing a file within limits.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Limits of a file.
const (
	MaxFile   = 1 << 20 // bytes
	maxLines  = 10_000
	maxValues = 50_000 // keys, values, lists and mappings
	maxDepth  = 32     // brackets within brackets, and lists or keys within others
	maxList   = 10_000 // entries of one list or mapping
)

// Read returns the content of a file. A file of more than MaxFile bytes is an error.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	src, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return src, tooLarge(path, src)
}

// tooLarge returns an error for a file above MaxFile.
func tooLarge(name string, src []byte) error {
	if len(src) > MaxFile {
		return &Error{File: name, Msg: fmt.Sprintf("the file is larger than %d bytes", MaxFile)}
	}
	return nil
}

// depth limits the levels of a file. It is a yaml.LoaderLimitsPlugin.
type depth struct{}

func (depth) CheckDepth(n int, _ *yaml.DepthContext) error {
	if n > maxDepth {
		return fmt.Errorf("more than %d levels of brackets or lists", maxDepth)
	}
	return nil
}

// CheckAlias implements yaml.LoaderLimitsPlugin. No alias is followed: the decoder refuses them.
func (depth) CheckAlias(int, int) error { return nil }

// parse returns the document of a file; nil for an empty one.
func parse(name string, src []byte) (*yaml.Node, error) {
	if err := tooLarge(name, src); err != nil {
		return nil, err
	}
	if n := bytes.Count(src, []byte{'\n'}); n > maxLines {
		return nil, &Error{File: name, Msg: fmt.Sprintf("%d lines, more than %d", n, maxLines)}
	}
	docs, err := yaml.NewLoader(bytes.NewReader(src), yaml.WithV4Defaults(), yaml.WithPlugin(depth{}))
	if err != nil {
		return nil, located(name, src, err)
	}
	var root *yaml.Node
	for {
		var doc yaml.Node
		switch err := docs.Load(&doc); {
		case errors.Is(err, io.EOF):
			return root, nil
		case err != nil:
			return nil, located(name, src, err)
		case root != nil:
			return nil, &Error{File: name, Line: doc.Line, Column: doc.Column, Msg: "a second document begins here: the file has one"}
		}
		root = &doc
		if root.Kind == yaml.DocumentNode {
			root = root.Content[0]
		}
		left := maxValues
		if at := beyond(root, &left); at != nil {
			return nil, &Error{File: name, Line: at.Line, Column: at.Column, Msg: fmt.Sprintf("more than %d values and marks up to here", maxValues)}
		}
	}
}

// beyond counts the nodes of a tree down from left, and returns the first one for which none is left; nil if there is none.
func beyond(n *yaml.Node, left *int) *yaml.Node {
	if *left--; *left < 0 {
		return n
	}
	for _, one := range n.Content {
		if at := beyond(one, left); at != nil {
			return at
		}
	}
	return nil
}

// located returns an error of the YAML package with its position.
func located(name string, src []byte, err error) error {
	e := &Error{File: name, Msg: err.Error()}
	var at *yaml.LoadError
	if errors.As(err, &at) {
		e.Line, e.Column, e.Msg = at.Mark.Line, at.Mark.Column, at.Message
		if lines := bytes.Split(bytes.TrimRight(src, "\n"), []byte{'\n'}); e.Line > len(lines) { // the file ends too early
			e.Line, e.Column = len(lines), len(lines[len(lines)-1])
		}
	}
	if strings.Contains(e.Msg, "anchor") || strings.Contains(e.Msg, "alias") {
		e.Msg = noAliases
	}
	return e
}
