//go:build !js

// Package docsite serves the documents (package docs) as pages at /docs/, with a search. It needs no key and no call: it only reads what the program contains.
package docsite

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/docs"
	"github.com/antiphon-rt/antiphon/internal/asset"
)

// Prefix begins the path of every page.
const Prefix = "/docs/"

// policy is the Content-Security-Policy of the pages: their own files, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

//go:embed page.html
var frame string

//go:embed docs.js
var script []byte

//go:embed docs.css
var style []byte

// missing is what a reader sees at an address without a page. The script searches for the words of the address.
const missing = `<h1>There is no page at this address</h1><p id="missing">Search for it above, or choose one of <a href="#pages">all pages</a>.</p>`

// Handler serves the pages. colours is the style sheet with the colours and the type, which the Talk page has as well.
// The first request makes all pages.
func Handler(colours []byte) http.Handler {
	s := sync.OnceValues(func() (*site, error) { return build(colours) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := s()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError) // TestEveryLinkResolves finds it before a release
			return
		}
		all.serve(w, r)
	})
}

// site has what is served, by path.
type site struct {
	version string
	files   map[string]asset.Asset
	missing string
}

// serve answers a request to read.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	name := r.URL.Path
	if a, ok := s.files[name]; ok {
		caching := asset.CacheCheck
		if r.URL.Query().Get("v") == s.version {
			caching = asset.CacheForever
		}
		a.Send(w, r, s.version, caching)
		return
	}
	// The names of the files, as they are on GitHub, and a folder without its slash lead to the page.
	for _, other := range []string{name + "/", address(strings.TrimPrefix(name, Prefix))} {
		if _, ok := s.files[other]; ok {
			http.Redirect(w, r, other, http.StatusMovedPermanently)
			return
		}
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte(s.missing)) // an error means that the client has gone
}

// build makes all pages and the index of the search.
func build(colours []byte) (*site, error) {
	has := func(file string) bool {
		_, err := fs.Stat(docs.Files, file)
		return err == nil && path.Ext(file) == ".md"
	}
	s := &site{files: map[string]asset.Asset{}}
	var pages []*page
	var sections []*section
	err := fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(docs.Files, name)
		if err != nil || path.Ext(name) != ".md" {
			s.add(Prefix+name, asset.ContentType(name), content)
			return err
		}
		p, err := render(name, content, has)
		if err == nil {
			pages, sections = append(pages, p), append(sections, p.sections...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	index, err := json.Marshal(sections)
	if err != nil {
		return nil, err
	}
	s.add(Prefix+"search.json", "application/json", index)
	s.add(Prefix+"docs.js", asset.ContentType(".js"), script)
	s.add(Prefix+"docs.css", asset.ContentType(".css"), append(colours[:len(colours):len(colours)], style...))
	sum := sha256.New()
	fmt.Fprint(sum, frame, missing, string(index), string(script), string(colours), string(style))
	for _, p := range pages {
		fmt.Fprint(sum, p.html)
	}
	s.version = hex.EncodeToString(sum.Sum(nil))[:12]
	list := entry.FindAllStringSubmatch(pages[slices.IndexFunc(pages, func(p *page) bool { return p.file == "README.md" })].html, -1)
	for _, p := range pages {
		s.add(address(p.file), "text/html; charset=utf-8", []byte(s.fill(p.sections[0].Heading, p.html, contents(list, p), source+"docs/"+p.file)))
	}
	s.missing = s.fill("No such page", missing, contents(list, &page{}), source+"docs")
	return s, nil
}

// add keeps a file. It keeps the packed form alone.
func (s *site) add(name, kind string, content []byte) {
	s.files[name] = asset.Asset{ContentType: kind, Gzip: asset.Squeeze(content), Size: len(content)}
}

// fill returns a page with a title, a body, the list of pages, and the address of its source.
func (s *site) fill(title, body, list, file string) string {
	return strings.NewReplacer("{version}", s.version, "{title}", html.EscapeString(title), "{body}", body, "{contents}", list, "{source}", file).Replace(frame)
}

// entry is an entry of the list of pages in docs/README.md, or a heading in it.
var entry = regexp.MustCompile(`<li><a href="(/docs/[^"]*)">(.*?)</a>.*|<h2 id="[^"]*">(.*)</h2>`)

// contents returns the list of all pages, in the order of docs/README.md. The list has the headings of the page that is shown.
func contents(entries [][]string, shown *page) string {
	var b strings.Builder
	for _, e := range entries {
		switch {
		case e[3] != "":
			fmt.Fprintf(&b, "<li class=\"group\">%s</li>\n", e[3])
		case e[1] != address(shown.file):
			fmt.Fprintf(&b, "<li><a href=%q>%s</a></li>\n", e[1], e[2])
		default:
			fmt.Fprintf(&b, "<li><a href=%q aria-current=\"page\">%s</a><ul>\n", e[1], e[2])
			for _, part := range shown.sections {
				if part.level == 2 {
					fmt.Fprintf(&b, "<li><a href=%q>%s</a></li>\n", part.Address, html.EscapeString(part.Heading))
				}
			}
			b.WriteString("</ul></li>\n")
		}
	}
	return b.String()
}
