package main

// The section voices also guards the pipeline of the flag --pipeline, and `antiphon voices` enrols people at a server.

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

func TestThePipelineOfTheFlagHasTheVoiceGate(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", "../../.cache/models")
	file, err := config.Parse(config.Name, []byte("voices: {folder: "+t.TempDir()+"}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := serve{Pipeline: "scripted"}
	p, err := c.open(t.Context(), file, true, slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Gate).NotTo(gomega.BeNil())
	g.Expect(p.Close()).To(gomega.Succeed())

	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	_, err = c.open(t.Context(), file, true, slog.New(slog.DiscardHandler))
	g.Expect(err).To(gomega.MatchError(models.ErrNotThere), "without the network the server does not start")
}

// guests is a pipeline.Enroller that keeps the lengths of the recordings, in samples.
type guests struct {
	mu     sync.Mutex
	people map[string]int
}

// Enrolled implements pipeline.Enroller.
func (g *guests) Enrolled() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.people))
}

// EnrolRecording implements pipeline.Enroller.
func (g *guests) EnrolRecording(_ context.Context, name string, pcm []float32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.people[name] = len(pcm)
	return nil
}

// Remove implements pipeline.Enroller.
func (g *guests) Remove(name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, is := g.people[name]; !is {
		return fmt.Errorf("%w: nobody is called %s", pipeline.ErrEnrolment, name)
	}
	delete(g.people, name)
	return nil
}

// voicesServer returns the commands for a server with one API key, and the people who are enrolled there.
func voicesServer(t *testing.T) (*voiceCommands, *guests) {
	t.Helper()
	g := gomega.NewWithT(t)
	key, line, err := apikey.New("desk")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	keys, err := apikey.Read(strings.NewReader(line))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	enrolled := &guests{people: map[string]int{}}
	p := scripted.New(scripted.Options{})
	p.Gate = &pipeline.VoiceGate{Enroller: enrolled}
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, Access: server.Access{Keys: keys}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		g.Expect(s.Close(context.Background())).To(gomega.Succeed())
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return &voiceCommands{URL: web.URL + "/", Key: key}, enrolled
}

// silence writes a WAV file of so many seconds at this rate.
func silence(t *testing.T, seconds, rate int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "recording.wav")
	sound := make([]byte, 2*seconds*rate)
	gomega.NewWithT(t).Expect(os.WriteFile(path, append(wav.Header(rate, len(sound)), sound...), 0o600)).To(gomega.Succeed())
	return path
}

// People are enrolled with one recording or several, listed, and removed.
func TestVoicesOfAServer(t *testing.T) {
	g := gomega.NewWithT(t)
	c, enrolled := voicesServer(t)
	names := func() string {
		var out bytes.Buffer
		g.Expect(listVoices{}.run(t.Context(), c, &out)).To(gomega.Succeed())
		return out.String()
	}
	g.Expect(names()).To(gomega.BeEmpty())
	ada := &enrolVoice{Name: "Ada Lovelace 100 %", Recordings: []string{silence(t, 2, 48_000), silence(t, 1, 16_000)}}
	g.Expect(ada.Run(t.Context(), c)).To(gomega.Succeed())
	g.Expect(enrolled.people).To(gomega.Equal(map[string]int{"Ada Lovelace 100 %": 3 * pipeline.InputRate}))
	g.Expect((&enrolVoice{Name: "Bob", Recordings: []string{silence(t, 1, 8_000)}}).Run(t.Context(), c)).To(gomega.Succeed())
	g.Expect(names()).To(gomega.Equal("Ada Lovelace 100 %\nBob\n"))
	g.Expect((&removeVoice{Name: "Ada Lovelace 100 %"}).Run(t.Context(), c)).To(gomega.Succeed())
	g.Expect(names()).To(gomega.Equal("Bob\n"))
	enrolled.people["\x1b]0;title\aCy\nDan"] = 1
	g.Expect(names()).To(gomega.Equal("]0;titleCy Dan\nBob\n"), "a server does not control the terminal")
}

// What is wrong is said, with what to do.
func TestVoicesThatAreRefused(t *testing.T) {
	c, _ := voicesServer(t)
	for what, row := range map[string]struct {
		do   func(c *voiceCommands) error
		says string
	}{
		"a name that nobody has": {func(c *voiceCommands) error { return (&removeVoice{Name: "Eve"}).Run(t.Context(), c) }, "nobody is called Eve"},
		"another key": {func(c *voiceCommands) error {
			return listVoices{}.Run(t.Context(), &voiceCommands{URL: c.URL, Key: "other"})
		}, "401 Unauthorized"},
		"no address": {func(*voiceCommands) error {
			return listVoices{}.Run(t.Context(), &voiceCommands{URL: "localhost"})
		}, "such as http://localhost:8080"},
		"no server": {func(*voiceCommands) error {
			return listVoices{}.Run(t.Context(), &voiceCommands{URL: "http://127.0.0.1:1"})
		}, "give its address with --url"},
		"a text": {func(c *voiceCommands) error {
			return (&enrolVoice{Name: "Eve", Recordings: []string{write(t, "a.wav", "a text")}}).Run(t.Context(), c)
		}, "makes a WAV file"},
		"a long recording": {func(c *voiceCommands) error {
			return (&enrolVoice{Name: "Eve", Recordings: []string{silence(t, 61, 8_000)}}).Run(t.Context(), c)
		}, "more than a minute"},
		"many recordings": {func(c *voiceCommands) error {
			return (&enrolVoice{Name: "Eve", Recordings: make([]string, 11)}).Run(t.Context(), c)
		}, "want at most 10"},
	} {
		t.Run(what, func(t *testing.T) {
			gomega.NewWithT(t).Expect(row.do(c)).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
}
