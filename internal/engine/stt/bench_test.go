package stt

// What the adapters add to the time of a server: the raw request and the adapter's, one after the other in the same run.

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// BenchmarkAddedLatency has 4 s of speech transcribed by a server that takes 20 ms. It reports the middle and the 95th percentile of the raw
// request (raw-p50-ms, raw-p95-ms), and what the adapter adds to them from the end of the audio to the text (added-p50-ms, added-p95-ms).
func BenchmarkAddedLatency(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-time.After(20 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"text":"Good day."}`)
	}))
	defer s.Close()
	tr, err := New(Options{Server: remote.Config{URLs: []string{s.URL}}, PartialEvery: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	body, contentType, err := tr.engine.form(backend.Config{}, make([]byte, 4*2*pipeline.InputRate), false)
	if err != nil {
		b.Fatal(err)
	}
	frame := make([]float32, 4*pipeline.InputRate/10)
	var raw, ours []time.Duration
	for b.Loop() {
		begin := time.Now()
		answer, err := http.Post(s.URL+"/audio/transcriptions", contentType, bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		raw = append(raw, time.Since(begin))

		u, err := tr.Open(b.Context(), pipeline.TranscribeConfig{Live: true})
		if err != nil {
			b.Fatal(err)
		}
		for range 10 {
			if err := u.Write(frame); err != nil {
				b.Fatal(err)
			}
		}
		<-time.After(10 * time.Millisecond) // the audio is taken as it comes, in a call
		begin = time.Now()
		if err := u.CloseInput(); err != nil {
			b.Fatal(err)
		}
		if r := <-u.Results(); r.Err != nil {
			b.Fatal(r.Err)
		}
		ours = append(ours, time.Since(begin))
		_ = u.Close()
	}
	ms := func(all []time.Duration, part float64) float64 {
		slices.Sort(all)
		return all[int(part*float64(len(all)-1))].Seconds() * 1000
	}
	b.ReportMetric(ms(raw, 0.5), "raw-p50-ms")
	b.ReportMetric(ms(raw, 0.95), "raw-p95-ms")
	b.ReportMetric(ms(ours, 0.5)-ms(raw, 0.5), "added-p50-ms")
	b.ReportMetric(ms(ours, 0.95)-ms(raw, 0.95), "added-p95-ms")
}
