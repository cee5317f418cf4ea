//go:build !js

package docsite

// Makes HTML of Markdown: the links, the anchors of the headings, and the texts for the search.

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// source is where a browser reads a file of the repository.
const source = "https://github.com/antiphon-rt/antiphon/blob/main/"

// page is a document as HTML.
type page struct {
	file     string // such as "models.md"
	html     string
	sections []*section // the first one has the page's title
}

// section is a heading with the text below it, as the search reads it.
type section struct {
	Page    string `json:"page"` // the title of the page
	Heading string `json:"heading"`
	Address string `json:"address"`
	Text    string `json:"text"`

	level int
}

// markdown reads what the documents use: CommonMark and tables. It leaves out HTML. The policy forbids style attributes.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

var (
	// diagram is a diagram as Mermaid text, which a page folds.
	diagram = regexp.MustCompile(`(?s)<pre>(<code class="language-mermaid">.*?</code>)</pre>`)
	// boxes gives what is wider than a telephone a box that scrolls, also with the keyboard.
	boxes = strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`)
	// named is the text of a code span that names a file or a folder of the repository.
	named = regexp.MustCompile(`^(cmd|coord|deploy|docs|e2e|examples|formal-verification|internal|scripts|sdk|server|tools|wasm|web|wire)/[\w./-]*\w$`)
)

// render makes a page of a document. has says if a document is there.
func render(file string, content []byte, has func(file string) bool) (*page, error) {
	root := markdown.Parser().Parse(text.NewReader(content), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	p := &page{file: file}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		p.read(n, content)
	}
	if len(p.sections) == 0 {
		return nil, fmt.Errorf("docs/%s does not begin with a heading", file)
	}
	var spans []*ast.CodeSpan
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns the errors of this function
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(resolve(file, string(n.Destination), has))
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			n.Destination = []byte(Prefix + path.Join(path.Dir(file), string(n.Destination)))
		case *ast.CodeSpan:
			spans = append(spans, n)
		}
		return ast.WalkContinue, nil
	})
	for _, span := range spans {
		linkPath(span, file, content, has)
	}
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, content, root); err != nil {
		return nil, fmt.Errorf("docs/%s: %w", file, err)
	}
	p.html = boxes.Replace(diagram.ReplaceAllString(html.String(), "<details><summary>The diagram, as Mermaid text</summary><pre>$1</pre></details>"))
	return p, nil
}

// read takes a block into the sections: a heading begins one.
func (p *page) read(n ast.Node, content []byte) {
	words := strings.Join(strings.Fields(plain(n, content)), " ")
	if h, ok := n.(*ast.Heading); ok {
		id, _ := h.AttributeString("id")
		s := &section{Page: words, Heading: words, Address: address(p.file), level: h.Level}
		if len(p.sections) > 0 {
			s.Page = p.sections[0].Page
			s.Address += fmt.Sprintf("#%s", id)
		}
		p.sections = append(p.sections, s)
	} else if len(p.sections) > 0 {
		s := p.sections[len(p.sections)-1]
		s.Text = strings.TrimSpace(s.Text + " " + words)
	}
}

// plain returns the text of a node.
func plain(n ast.Node, content []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns the errors of this function
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(content))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering && string(n.Language(content)) != "mermaid" {
				b.Write(n.Lines().Value(content))
			}
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// address returns where a document is served.
func address(file string) string {
	return "/docs/" + strings.TrimSuffix(strings.TrimSuffix(file, ".md"), "README")
}

// resolve returns the address of what a document links to: a page, or a file of the repository.
func resolve(from, to string, has func(file string) bool) string {
	target, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	if target == "" || strings.Contains(target, ":") {
		return to
	}
	file := path.Join(path.Dir(from), target)
	if has(file) {
		return address(file) + anchor
	}
	return source + path.Join("docs", file) + anchor
}

// linkPath makes a link of a code span that names a file. The decisions name files of their time.
func linkPath(span *ast.CodeSpan, from string, content []byte, has func(file string) bool) {
	name := plain(span, content)
	file, document := strings.CutPrefix(name, "docs/")
	if !named.MatchString(name) || file == from || strings.HasPrefix(from, "decisions/") && !has(file) {
		return
	}
	link := ast.NewLink()
	link.Destination = []byte(source + name)
	if document && has(file) {
		link.Destination = []byte(address(file))
	}
	parent := span.Parent()
	parent.ReplaceChild(parent, span, link)
	link.AppendChild(link, span)
}

// anchors are the anchors of a page, as GitHub makes them: the letters, digits, hyphens and underscores of a heading.
type anchors map[string]bool

// Generate returns the anchor of a heading.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(heading))
	for n, first := 1, id; a[id]; n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	a[id] = true
	return []byte(id)
}

// Put takes an anchor that a document gives itself.
func (a anchors) Put(id []byte) { a[string(id)] = true }
