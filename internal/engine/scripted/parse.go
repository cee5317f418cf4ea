package scripted

// This file reads and checks scripts.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/antiphon-rt/antiphon/internal/engine/safeyaml"
)

// Limits of a script.
const (
	maxFile     = 1 << 20          // bytes
	maxRules    = 1000             // rules, replies or fixtures of a stage
	maxPattern  = 1000             // bytes of a regular expression
	maxDuration = 10 * time.Minute // the longest delay of any kind
	maxCalls    = 16               // tool calls of a reply
	minSpeedup  = 0.01
	maxSpeedup  = 1e6
)

// ParseError is an error in a script and its position.
type ParseError struct {
	File string // may be empty
	Line int    // the line in the file, from 1; 0: the whole file
	Msg  string
}

// Error returns "file:line: message".
func (e *ParseError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	if where == "" {
		return "script: " + e.Msg
	}
	return where + ": " + e.Msg
}

// Parse reads a script. It uses name only in errors. Every error is a *ParseError.
func Parse(name string, src []byte) (*Script, error) {
	if len(src) > maxFile {
		return nil, &ParseError{File: name, Msg: fmt.Sprintf("is %d bytes long, the limit is %d", len(src), maxFile)}
	}
	file, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, located(name, err)
	}
	s := &Script{}
	c := checker{name: name, file: file}
	durations := yaml.CustomUnmarshaler(c.readDuration)
	if err := safeyaml.Decode(src, s, durations); err != nil {
		if c.err != nil {
			return nil, c.err
		}
		return nil, located(name, err)
	}
	c.script(s)
	if c.err != nil {
		return nil, c.err
	}
	return s, nil
}

// read returns the content of the file of a script. It reads at most one byte more than the limit.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", path, err)
	}
	return src, nil
}

// located returns a ParseError with the line and the message of an error of the YAML package.
func located(name string, err error) error {
	e := &ParseError{File: name, Msg: err.Error()}
	var at yaml.Error
	if errors.As(err, &at) {
		e.Msg = at.GetMessage()
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	return e
}

// checker finds values that have the right type and are not allowed. It keeps the first error.
type checker struct {
	name string
	file *ast.File
	err  error
}

// readDuration reads a duration. The reader of the YAML package does not return the position of an invalid one.
func (c *checker) readDuration(d *time.Duration, src []byte) error {
	text := strings.Trim(strings.TrimSpace(string(src)), `"'`)
	v, err := time.ParseDuration(text)
	if err == nil {
		*d = v
		return nil
	}
	e := &ParseError{File: c.name, Msg: fmt.Sprintf("%q is not a duration, write it as 250ms or 1.5s", text)}
	for _, doc := range c.file.Docs {
		if n := scalar(doc.Body, text); n != nil {
			e.Line = n.GetToken().Position.Line
		}
	}
	if c.err == nil {
		c.err = e
	}
	return e
}

// scalar returns the first scalar with this text.
func scalar(root ast.Node, text string) (found ast.Node) {
	if root == nil {
		return nil
	}
	ast.Walk(finder(func(n ast.Node) bool {
		if _, ok := n.(ast.ScalarNode); ok && found == nil && n.GetToken() != nil && n.GetToken().Value == text {
			found = n
		}
		return found == nil
	}), root)
	return found
}

// finder calls a function for each node until it returns false.
type finder func(ast.Node) bool

// Visit implements ast.Visitor.
func (f finder) Visit(n ast.Node) ast.Visitor {
	if !f(n) {
		return nil
	}
	return f
}

// fail records an error at a path of the file.
func (c *checker) fail(path, format string, args ...any) {
	if c.err != nil {
		return
	}
	e := &ParseError{File: c.name, Msg: path[len("$."):] + ": " + fmt.Sprintf(format, args...)}
	if p, err := yaml.PathString(path); err == nil {
		if n, err := p.FilterFile(c.file); err == nil && n.GetToken() != nil {
			e.Line = n.GetToken().Position.Line
		}
	}
	c.err = e
}

func (c *checker) script(s *Script) {
	if s.Pipeline != "" && s.Pipeline != "scripted" {
		c.fail("$.pipeline", "is %q, a script has %q here", s.Pipeline, "scripted")
	}
	c.duration("$.load", s.Load)
	c.count("$.prompts", len(s.Prompts), maxRules)
	for i, p := range s.Prompts {
		if p.ID == "" || p.Text == "" {
			c.fail(fmt.Sprintf("$.prompts[%d]", i), "has no id or no text")
		}
	}
	c.transcriber(&s.Transcriber)
	c.model(&s.Model)
	c.synthesizer(&s.Synthesizer)
}

func (c *checker) transcriber(r *TranscriberRules) {
	const at = "$.transcriber."
	c.duration(at+"partial_every", r.PartialEvery)
	c.duration(at+"delay", r.Delay)
	c.count(at+"fixtures", len(r.Fixtures), maxRules)
	c.count(at+"rules", len(r.Rules), maxRules)
	for i := range r.Fixtures {
		var err error
		if r.Fixtures[i].print, err = ParseFingerprint(r.Fixtures[i].Fingerprint); err != nil {
			c.fail(fmt.Sprintf("%sfixtures[%d].fingerprint", at, i), "%v", err)
		}
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		here := fmt.Sprintf("%srules[%d]", at, i)
		c.when(here, &rule.When, false)
		c.duration(here+".delay", rule.Delay)
		if rule.Text != nil && len(rule.Speakers) > 0 {
			c.fail(here, "has both text and speakers")
		}
		c.count(here+".speakers", len(rule.Speakers), maxCalls)
		switch rule.Boundary {
		case "", "eou", "eob", "none":
		default:
			c.fail(here+".boundary", "is %q, use eou, eob or none", rule.Boundary)
		}
	}
}

func (c *checker) model(r *ModelRules) {
	const at = "$.model."
	c.duration(at+"first_token", r.FirstToken)
	c.duration(at+"token", r.Token)
	if r.Window < 0 {
		c.fail(at+"window", "is %d, use 1 or more", r.Window)
	}
	c.count(at+"replies", len(r.Replies), maxRules)
	for i := range r.Replies {
		reply := &r.Replies[i]
		here := fmt.Sprintf("%sreplies[%d]", at, i)
		c.when(here, &reply.When, true)
		c.count(here+".calls", len(reply.Calls), maxCalls)
		for j, call := range reply.Calls {
			if call.Name == "" {
				c.fail(fmt.Sprintf("%s.calls[%d]", here, j), "has no name")
			}
		}
		if reply.FirstToken != nil {
			c.duration(here+".first_token", *reply.FirstToken)
		}
		if reply.Token != nil {
			c.duration(here+".token", *reply.Token)
		}
		if reply.Fail != "" && reply.Stall || reply.Fail != "" && reply.Cut || reply.Stall && reply.Cut {
			c.fail(here, "has more than one of fail, stall and cut")
		}
	}
}

func (c *checker) synthesizer(r *SynthesizerRules) {
	const at = "$.synthesizer."
	c.duration(at+"character", r.Character)
	if r.Speedup != 0 && !(r.Speedup >= minSpeedup && r.Speedup <= maxSpeedup) {
		c.fail(at+"speedup", "is %v, use %v to %v", r.Speedup, minSpeedup, maxSpeedup)
	}
	c.count(at+"rules", len(r.Rules), maxRules)
	for i := range r.Rules {
		here := fmt.Sprintf("%srules[%d]", at, i)
		c.when(here, &r.Rules[i].When, false)
		c.duration(here+".delay", r.Rules[i].Delay)
		c.duration(here+".after", r.Rules[i].After)
		if r.Rules[i].Fail != "" && r.Rules[i].Stall {
			c.fail(here, "has both fail and stall")
		}
	}
}

func (c *checker) when(at string, w *When, model bool) {
	if !model && (w.Tool != "" || w.Turn != 0) {
		c.fail(at+".when", "tool and turn are for the model's replies only")
	}
	if w.Turn < 0 {
		c.fail(at+".when.turn", "is %d, the first turn is 1", w.Turn)
	}
	if w.Regexp == "" {
		return
	}
	c.count(at+".when.regexp", len(w.Regexp), maxPattern)
	re, err := regexp.Compile(w.Regexp)
	if err != nil {
		c.fail(at+".when.regexp", "%v", err)
	}
	w.re = re
}

func (c *checker) duration(at string, d time.Duration) {
	if d < 0 || d > maxDuration {
		c.fail(at, "is %v, use 0s to %v", d, maxDuration)
	}
}

func (c *checker) count(at string, n, limit int) {
	if n > limit {
		c.fail(at, "has %d, the limit is %d", n, limit)
	}
}
