package main

import (
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/calltest"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
)

// TestSoundOfFailingCalls checks that `antiphon test` keeps the sound of each failing call, also of two files with one name.
func TestSoundOfFailingCalls(t *testing.T) {
	g := gomega.NewWithT(t)
	s, err := server.New(server.Config{Pipeline: scripted.New(scripted.Options{}), LoopbackOnly: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	web := httptest.NewServer(s)
	defer func() {
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
		web.Close()
	}()
	var files []*calltest.File
	for range 2 {
		path := filepath.Join(t.TempDir(), "order.yaml")
		g.Expect(os.WriteFile(path, []byte("call:\n- write: say 1 words\n- answer: {says: four}\n"), 0o600)).To(gomega.Succeed())
		f, err := calltest.Load(path)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		files = append(files, f)
	}
	command := &test{Repeat: 1, Least: 1, Keep: t.TempDir()}
	target := &calltest.Target{URL: web.URL, Loopback: true, Patience: time.Minute}
	var all []*calltest.Result
	for _, f := range files {
		_, err := command.play(t.Context(), io.Discard, target, f, &all)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	kept := func() (kept []string) {
		found, err := filepath.Glob(filepath.Join(command.Keep, "*.wav"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, path := range found {
			info, err := os.Stat(path)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			if info.Size() > 1000 {
				kept = append(kept, filepath.Base(path))
			}
		}
		return kept
	}
	g.Expect(kept()).To(gomega.Equal([]string{"order-1-agent.wav", "order-1-user.wav", "order-2-agent.wav", "order-2-user.wav"}))
	for i, name := range []string{"order-1", "order-2"} {
		g.Expect(all[i].Keep(command.Keep, name)).To(gomega.Succeed())
	}
	g.Expect(kept()).To(gomega.BeEmpty(), "a thousand results do not hold their sound")
}
