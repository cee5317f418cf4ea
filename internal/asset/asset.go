//go:build !js

// Package asset answers requests for files that are kept in several encodings.
package asset

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// The encodings of a sent file, best first.
const (
	encodingBrotli = "br"
	encodingGzip   = "gzip"
	encodingPlain  = "identity"
)

// Asset is a file that is sent to the browser, in the encodings that there are. At least one of Plain and Gzip is there.
type Asset struct {
	ContentType         string
	Plain, Gzip, Brotli []byte
	Size                int // the size of the plain file, in bytes
}

// The values of Cache-Control. A browser may keep a file for ever if its address changes with its content; otherwise it asks each time.
const (
	CacheForever = "public, max-age=31536000, immutable"
	CacheCheck   = "no-cache"
)

// Send answers with a file in the best encoding that the client takes. Send unpacks a file that exists only in packed form for a client that wants it plain.
func (a Asset) Send(w http.ResponseWriter, r *http.Request, version, caching string) {
	encoding := a.choose(r.Header.Get("Accept-Encoding"))
	h := w.Header()
	h.Set("Content-Type", a.ContentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", caching)
	h.Add("Vary", "Accept-Encoding")
	etag := `"` + version + "-" + encoding + `"`
	h.Set("ETag", etag)
	if matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.body(encoding)
	h.Set("Content-Length", strconv.Itoa(a.length(encoding)))
	if encoding != encodingPlain {
		h.Set("Content-Encoding", encoding)
	}
	if r.Method == http.MethodHead {
		return
	}
	// An error means that the client has gone; there is nobody to tell.
	_, _ = io.Copy(w, body)
}

func (a Asset) choose(accept string) string {
	if a.Brotli != nil && accepts(accept, encodingBrotli) {
		return encodingBrotli
	}
	if a.Gzip != nil && accepts(accept, encodingGzip) {
		return encodingGzip
	}
	return encodingPlain
}

func (a Asset) length(encoding string) int {
	switch encoding {
	case encodingBrotli:
		return len(a.Brotli)
	case encodingGzip:
		return len(a.Gzip)
	default:
		return a.Size
	}
}

func (a Asset) body(encoding string) io.Reader {
	switch {
	case encoding == encodingBrotli:
		return bytes.NewReader(a.Brotli)
	case encoding == encodingGzip:
		return bytes.NewReader(a.Gzip)
	case a.Plain != nil:
		return bytes.NewReader(a.Plain)
	}
	plain, err := gzip.NewReader(bytes.NewReader(a.Gzip))
	if err != nil {
		return strings.NewReader("")
	}
	return plain
}

// accepts reports whether an Accept-Encoding header allows a coding. A weight of 0 forbids it; "*" speaks for codings that are not named.
func accepts(header, coding string) bool {
	allowed := false
	for field := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(field), ";")
		name = strings.TrimSpace(name)
		switch {
		case strings.EqualFold(name, coding):
			return weight(params) > 0
		case name == "*":
			allowed = weight(params) > 0
		}
	}
	return allowed
}

// weight returns the q of a list entry: 1 where there is none, 0 where it is not a number.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		key, value, found := strings.Cut(strings.TrimSpace(param), "=")
		if !found || !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 0
		}
		return q
	}
	return 1
}

// matches reports whether an If-None-Match header names the tag.
func matches(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == etag || tag == "*" {
			return true
		}
	}
	return false
}

// Squeeze returns a small file packed with gzip.
func Squeeze(content []byte) []byte {
	var short bytes.Buffer
	w := gzip.NewWriter(&short)
	_, _ = w.Write(content) // a buffer never fails
	_ = w.Close()
	return short.Bytes()
}

// ContentType returns the content type for a file's name. It does not use the machine's MIME tables, which differ between machines.
func ContentType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".wasm":
		return "application/wasm"
	default:
		return "application/octet-stream"
	}
}
