package strict

// Reading and parsing a file within limits.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a file. The time of the parser grows with the square of some of them.
const (
	MaxFile   = 1 << 20 // bytes
	maxLines  = 10_000
	maxTokens = 50_000 // texts, numbers, brackets, colons, commas and dashes
	maxDepth  = 32     // brackets within brackets, and lists in one line
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

// parse returns the document of a file; nil for an empty one.
func parse(name string, src []byte) (ast.Node, error) {
	if err := tooLarge(name, src); err != nil {
		return nil, err
	}
	if n := bytes.Count(src, []byte{'\n'}); n > maxLines {
		return nil, &Error{File: name, Msg: fmt.Sprintf("%d lines, more than %d", n, maxLines)}
	}
	tokens := lexer.Tokenize(strings.TrimPrefix(string(src), "\ufeff")) // editors on Windows put this mark before a text
	if len(tokens) > maxTokens {
		at := tokens[maxTokens].Position
		return nil, &Error{File: name, Line: at.Line, Column: at.Column, Msg: fmt.Sprintf("more than %d values and marks up to here", maxTokens)}
	}
	if at := tooDeep(tokens); at != nil {
		return nil, &Error{File: name, Line: at.Position.Line, Column: at.Position.Column, Msg: fmt.Sprintf("more than %d levels of brackets or lists", maxDepth)}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, located(name, err)
	}
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			at := doc.Body.GetToken().Position
			return nil, &Error{File: name, Line: at.Line, Column: at.Column, Msg: "a second document begins here: the file has one"}
		}
		root = doc.Body
	}
	return root, nil
}

// tooDeep returns the token that begins a level beyond maxDepth; nil if there is none.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			if t.Position.Line != line {
				dashes, line = 0, t.Position.Line
			}
			dashes++
		default:
		}
		if brackets > maxDepth || dashes > maxDepth {
			return t
		}
	}
	return nil
}

// located returns an error of the YAML package with its position.
func located(name string, err error) error {
	e := &Error{File: name, Msg: err.Error()}
	var at yaml.Error
	if errors.As(err, &at) {
		e.Msg = at.GetMessage()
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	return e
}
