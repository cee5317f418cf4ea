package main

// The row "sizes": how large the scripts are that a page loads, beside those of others.

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
)

// Bounds of the files that a page loads, in bytes.
const (
	mostProgram = 100_000
	mostLoader  = 6_000
)

// others are the scripts that a page with another client imports.
var others = []struct{ name, script string }{
	{"@openai/agents-realtime", `import { RealtimeAgent, RealtimeSession } from "@openai/agents-realtime"; window.kept = { RealtimeAgent, RealtimeSession };`},
	{"livekit-client", `import { Room, RoomEvent } from "livekit-client"; window.kept = { Room, RoomEvent };`},
	{"@elevenlabs/client", `import { Conversation } from "@elevenlabs/client"; window.kept = { Conversation };`},
}

// packed has the size of a file in three forms, in bytes.
type packed struct{ plain, gzip, brotli int }

func pressed(file []byte) (packed, error) {
	var g, b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&g, gzip.BestCompression)
	if err != nil {
		return packed{}, err
	}
	br := brotli.NewWriterLevel(&b, brotli.BestCompression)
	for _, w := range []io.WriteCloser{zip, br} {
		if _, err := w.Write(file); err != nil {
			return packed{}, err
		}
		if err := w.Close(); err != nil {
			return packed{}, err
		}
	}
	return packed{len(file), g.Len(), b.Len()}, nil
}

// sizes measures the files that a page loads with Antiphon, and with other clients.
func sizes(h *house, _ options, r *results) error {
	server, err := h.tones()
	if err != nil {
		return err
	}
	t := table{
		title: "What a page loads", head: []string{"file", "plain kB", "gzip kB", "brotli kB"},
		notes: []string{"The same code compresses all files at the best level. esbuild makes and minifies the bundles from the imports of a page that holds a call."},
	}
	measure := func(name string, file []byte) (packed, error) {
		p, err := pressed(file)
		t.rows = append(t.rows, []string{name, kB(p.plain), kB(p.gzip), kB(p.brotli)})
		return p, err
	}
	loader, err := h.fetch(server + "/antiphon.js")
	if err != nil {
		return err
	}
	small, err := measure("Antiphon, loader", loader)
	if err != nil {
		return err
	}
	program, err := h.fetch(server + "/antiphon.wasm")
	if err != nil {
		return err
	}
	tiny, err := measure("Antiphon, wasm", program)
	if err != nil {
		return err
	}
	r.judge(target{what: "loader, gzip", want: "<= 6 kB", got: kB(small.gzip) + " kB", met: small.gzip <= mostLoader, hard: true})
	r.judge(target{what: "wasm, brotli", want: "<= 100 kB", got: kB(tiny.brotli) + " kB", met: tiny.brotli <= mostProgram, hard: true})
	for _, o := range others {
		file, err := pack(o.script, installed)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		if _, err := measure(o.name, file); err != nil {
			return err
		}
	}
	r.add(t)
	return nil
}

func kB(bytes int) string { return fmt.Sprintf("%.1f", float64(bytes)/1000) }

// maxFile bounds a file that is fetched, in bytes.
const maxFile = 32 << 20

// fetch returns a file from the server, uncompressed.
func (h *house) fetch(url string) ([]byte, error) {
	ask, err := http.NewRequestWithContext(h.ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	ask.Header.Set("Accept-Encoding", "identity")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, strings.ToLower(http.StatusText(answer.StatusCode)))
	}
	return io.ReadAll(io.LimitReader(answer.Body, maxFile))
}
