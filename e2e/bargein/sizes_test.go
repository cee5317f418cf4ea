package bargein

// The benchmark of the sizes: how large the scripts are that a page loads, beside those of others.

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

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

// BenchmarkSizes measures the files that a page loads with Antiphon, and with other clients. The same code compresses all files at the best level.
// esbuild makes and minifies the bundles from the imports of a page that holds a call.
func BenchmarkSizes(b *testing.B) {
	server := open(b).tones()
	fetched := func(path string) []byte {
		file, err := fetch(b.Context(), server+path)
		if err != nil {
			b.Fatal(err)
		}
		return file
	}
	b.Run("Antiphon, loader", func(b *testing.B) {
		if small := measureSize(b, fetched("/antiphon.js")); small.gzip > mostLoader {
			b.Errorf("the loader has %d bytes, more than %d", small.gzip, mostLoader)
		}
	})
	b.Run("Antiphon, wasm", func(b *testing.B) {
		if tiny := measureSize(b, fetched("/antiphon.wasm")); tiny.brotli > mostProgram {
			b.Errorf("the program has %d bytes, more than %d", tiny.brotli, mostProgram)
		}
	})
	for _, o := range others {
		b.Run(o.name, func(b *testing.B) {
			file, err := pack(o.script, installed)
			if err != nil {
				b.Fatal(err)
			}
			measureSize(b, file)
		})
	}
}

// measureSize reports the size of a file in three forms.
func measureSize(b *testing.B, file []byte) packed {
	p, err := pressed(file)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(p.plain)/1000, "plain-kB")
	b.ReportMetric(float64(p.gzip)/1000, "gzip-kB")
	b.ReportMetric(float64(p.brotli)/1000, "brotli-kB")
	return p
}

// maxFile bounds a file that is fetched, in bytes.
const maxFile = 32 << 20

// fetch returns a file from the server, uncompressed.
func fetch(ctx context.Context, url string) ([]byte, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
