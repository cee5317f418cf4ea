//go:build !js

package web

// The HTTP handler that serves the page.

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/asset"
	"github.com/antiphon-rt/antiphon/internal/pagescript"
	"github.com/antiphon-rt/antiphon/web/internal/docsite"
	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// Options say how the page is served. The zero value is valid.
type Options struct {
	// Semantic has the calls of the page use semantic_vad: the words end a turn, and not the silence alone. Without it the page leaves turn
	// detection to the server's settings.
	Semantic bool
	// Console serves the page of the console of calls at /console. The server serves its data to operators alone.
	Console bool
}

// semanticMark is in the head of the page if Options.Semantic is set. NewBrowserClient looks for it.
const semanticMark = `<meta name="` + semanticName + `" content="on">`

// policy is the Content-Security-Policy. It allows the page's own files and its
// own server, and nothing else. Calls by WebRTC are not subject to it.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; media-src 'self' blob:; worker-src 'self'; manifest-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

// head is the HTML of the page up to its body. FILES is the folder of the page's files, and SCRIPT the version of its script.
const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Antiphon</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="description" content="A conversation you can interrupt, with a voice server of your own.">
<meta name="theme-color" content="#f7f4ed">
<link rel="icon" href="FILES/icon.svg" type="image/svg+xml">
<link rel="apple-touch-icon" href="FILES/icon-192.png">
<link rel="manifest" href="/manifest.webmanifest">
<link rel="stylesheet" href="FILES/page.css">
<script type="module" src="/talk-page.js?v=SCRIPT"></script>
`

// installed says how the page looks when a user has installed it as an app.
const installed = `{"short_name":"Antiphon","name":"Antiphon","description":"A conversation you can interrupt, with a voice server of your own.",` +
	`"icons":[{"src":"FILES/icon.svg","type":"image/svg+xml","sizes":"any"},{"src":"FILES/icon-192.png","type":"image/png","sizes":"192x192"},` +
	`{"src":"FILES/icon-512.png","type":"image/png","sizes":"512x512"},{"src":"FILES/icon-maskable.png","type":"image/png","sizes":"512x512","purpose":"maskable"}],` +
	`"scope":"/","start_url":"/","background_color":"#f7f4ed","theme_color":"#f7f4ed","display":"standalone"}`

// drawer has the settings. It is no part of what the program shows: web/page/settings.js reads it.
//
//go:embed drawer.html
var drawer string

// console is the page of the console, whose script is web/console/console.js.
//
//go:embed console.html
var console string

// Handler serves the Talk page at "/" and all its files, and the documents at "/docs/". It answers
// 404 for every other path.
//
// Files whose address holds the bundle's version may be kept for ever; all
// others are checked with the server each time, so that an upgraded server
// never shows an old page.
func Handler(o Options) http.Handler {
	b, err := loadBundle()
	if err != nil {
		panic(err) // the files are a part of this program
	}
	s := &site{bundle: b, script: pagescript.Handler(), docs: docsite.Handler(b.colours), named: map[string]asset.Asset{
		"/app-worker.js": b.assets["app-worker.js"],
		"/favicon.ico":   b.assets["icon-192.png"],
	}}
	fill := strings.NewReplacer("FILES", "/web/"+b.version, "SCRIPT", pagescript.Version()).Replace
	html := fill(head)
	if o.Semantic {
		html += semanticMark + "\n"
	}
	html += "</head>\n<body>" + ui.HTML(NewPage(nil, Snapshot{Phase: PhaseLoading}).render()) + drawer + "</body>\n</html>\n"
	s.pages = map[string]page{"/": pageOf(html)}
	if o.Console {
		s.pages["/console"] = pageOf(fill(console))
	}
	manifest := small("manifest.webmanifest", []byte(fill(installed)))
	manifest.ContentType = "application/manifest+json"
	s.named["/manifest.webmanifest"] = manifest
	return s
}

// page is an HTML page.
type page struct {
	asset.Asset
	version string
}

func pageOf(html string) page {
	sum := sha256.Sum256([]byte(html))
	a := small("index.html", []byte(html))
	a.ContentType = "text/html; charset=utf-8"
	return page{a, hex.EncodeToString(sum[:])[:12]}
}

// Script serves the files with which pages of every origin can hold a call (sdk/npm), by the last part of the path. Handler serves them
// as well. It answers 404 for every other name.
func Script() http.Handler { return pagescript.Handler() }

// site is the page with its files.
type site struct {
	bundle *bundle
	pages  map[string]page
	named  map[string]asset.Asset // the files whose address never changes
	script http.Handler           // the files of package script: those for other pages, and the page's own program
	docs   http.Handler
}

// ServeHTTP answers a request for the page or one of its files.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page can only be read: use GET", http.StatusMethodNotAllowed)
		return
	}
	if p, ok := s.pages[r.URL.Path]; ok {
		s.setPageHeaders(w.Header())
		p.Send(w, r, p.version, asset.CacheCheck)
		return
	}
	if a, ok := s.named[r.URL.Path]; ok {
		a.Send(w, r, s.bundle.version, asset.CacheCheck)
		return
	}
	if strings.HasPrefix(r.URL.Path+"/", docsite.Prefix) {
		s.docs.ServeHTTP(w, r)
		return
	}
	if pagescript.Serves(r.URL.Path) {
		s.script.ServeHTTP(w, r)
		return
	}
	s.serveFile(w, r)
}

func (s *site) setPageHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Permissions-Policy", "microphone=(self), speaker-selection=(self), autoplay=(self)")
	h.Set("Referrer-Policy", "no-referrer")
}

// serveFile answers /web/VERSION/NAME. It answers an
// address of another version with an error, not with other content.
func (s *site) serveFile(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/web/")
	version, name, found := strings.Cut(rest, "/")
	if a, there := s.bundle.assets[name]; ok && found && there && version == s.bundle.version {
		a.Send(w, r, s.bundle.version, asset.CacheForever)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, "there is no such page here: the Talk page is at /, and the documents are at /docs/", http.StatusNotFound)
}
