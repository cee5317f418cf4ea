//go:build !js

package web

// The HTTP handler that serves the page.

import (
	_ "embed"
	"errors"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/maxence-charriere/go-app/v10/pkg/app"

	"github.com/antiphon-rt/antiphon/internal/asset"
	"github.com/antiphon-rt/antiphon/internal/pagescript"
	"github.com/antiphon-rt/antiphon/web/internal/dist"
)

//go:embed static/worker.js
var workerJS string

// Options say how the page is served. The zero value serves what the build has
// put into this program.
type Options struct {
	// Dist holds the files that `go run ./web/internal/build` makes; nil means
	// the embedded ones.
	Dist fs.FS
	// Semantic has the calls of the page use semantic_vad: the words end a turn, and not the silence alone. Without it the page leaves turn
	// detection to the server's settings.
	Semantic bool
}

// semanticMark is in the head of the page if Options.Semantic is set. NewBrowserClient looks for it.
const semanticMark = `<meta name="` + semanticName + `" content="on">`

// policy is the Content-Security-Policy. It allows the page's own files and its
// own server, and nothing else. Calls by WebRTC are not subject to it.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; media-src 'self' blob:; worker-src 'self'; manifest-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

// Check reports whether the client program of the page was embedded into this
// program: nil, or an error that wraps ErrNotBuilt.
func Check() error {
	_, err := loadBundle(distOf(Options{}))
	return err
}

func distOf(o Options) fs.FS {
	if o.Dist != nil {
		return o.Dist
	}
	// dist is embedded under this very name: Sub cannot fail.
	built, err := fs.Sub(embeddedDist, "dist")
	if err != nil {
		return embeddedDist
	}
	return built
}

// Handler serves the Talk page at "/" and all its files. It answers
// 404 for every path that is not its own, and 503 with the command to run when
// the page was not built.
//
// Files whose address holds the bundle's version may be kept for ever; all
// others are checked with the server each time, so that an upgraded server
// never shows an old page.
func Handler(o Options) http.Handler {
	b, err := loadBundle(distOf(o))
	if err != nil {
		return notBuilt(err)
	}
	s := &site{bundle: b, script: script.Handler()}
	s.app = &app.Handler{
		Name:        "Antiphon",
		ShortName:   "Antiphon",
		Title:       "Antiphon",
		Description: "A conversation you can interrupt, with a voice server of your own.",
		Icon: app.Icon{
			Default:  "/web/icon-192.png",
			Large:    "/web/icon-512.png",
			Maskable: "/web/icon-maskable.png",
			SVG:      "/web/icon.svg",
		},
		BackgroundColor:       "#f7f4ed",
		ThemeColor:            "#f7f4ed",
		LoadingLabel:          "Loading {progress}%",
		Styles:                []string{"/web/page.css"},
		Scripts:               []string{"/web/guard.js defer", "/antiphon-host.js defer"},
		Version:               b.version,
		WasmContentLength:     strconv.Itoa(b.size),
		ServiceWorkerTemplate: workerJS,
		Resources:             s,
	}
	if o.Semantic {
		s.app.RawHeaders = []string{semanticMark}
		s.app.Version += "-semantic" // the page's ETag
	}
	app.Route("/", func() app.Composer { return NewPage(nil, Snapshot{Phase: PhaseLoading}) })
	return s
}

// site is the page with its files. It resolves addresses for go-app.
type site struct {
	bundle *bundle
	app    *app.Handler
	script http.Handler // the files of package script: those for other pages, and two that the Talk page uses as well
}

// Resolve puts the version into the address of a file. So the content behind an
// address never changes.
func (s *site) Resolve(location string) string {
	if name, ok := strings.CutPrefix(location, "/web"); ok && (name == "" || name[0] == '/') {
		return "/web/" + s.bundle.version + name
	}
	return location
}

// ServeHTTP answers a request for the page or one of its files.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page can only be read: use GET", http.StatusMethodNotAllowed)
		return
	}
	switch r.URL.Path {
	case "/":
		s.setPageHeaders(w.Header())
		s.app.ServeHTTP(w, r)
	case "/app.js", "/app.css", "/app-worker.js", "/manifest.webmanifest":
		w.Header().Set("X-Content-Type-Options", "nosniff")
		s.app.ServeHTTP(w, r)
	case "/" + dist.WasmExecFile:
		s.bundle.assets[dist.WasmExecFile].Send(w, r, s.bundle.version, asset.CacheCheck)
	case "/favicon.ico":
		s.bundle.assets["icon-192.png"].Send(w, r, s.bundle.version, asset.CacheCheck)
	default:
		if script.Serves(r.URL.Path) {
			s.script.ServeHTTP(w, r)
			return
		}
		s.serveFile(w, r)
	}
}

func (s *site) setPageHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Permissions-Policy", "microphone=(self), speaker-selection=(self), autoplay=(self)")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
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
	http.Error(w, "there is no such page here: the Talk page is at /", http.StatusNotFound)
}

// notBuilt answers every request with what to do.
func notBuilt(err error) http.Handler {
	text := err.Error()
	if errors.Is(err, ErrNotBuilt) {
		text = ErrNotBuilt.Error()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, text, http.StatusServiceUnavailable)
	})
}
