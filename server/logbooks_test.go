package server_test

// The folder of the logbooks.

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
)

func TestLogbooks(t *testing.T) {
	for _, sound := range []bool{false, true} {
		story(t, "each call has a file of its own that plays again, and the oldest go", func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "logbooks")
			h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
				c.Logbooks, c.LogbookSound, c.LogbooksKept = folder, sound, 2
			})
			h.g.Expect(os.WriteFile(filepath.Join(folder, "of somebody else"), nil, 0o600)).To(gomega.Succeed())
			for range 3 {
				conversation(h.dial())
			}
			h.close()
			files, err := os.ReadDir(folder)
			h.g.Expect(err).NotTo(gomega.HaveOccurred())
			h.g.Expect(files).To(gomega.HaveLen(3), "two logbooks, and a file of somebody else")
			for _, file := range files[:2] {
				info, err := file.Info()
				h.g.Expect(err).NotTo(gomega.HaveOccurred())
				h.g.Expect(info.Mode()).To(gomega.Equal(os.FileMode(0o600)))
				text, err := os.ReadFile(filepath.Join(folder, file.Name()))
				h.g.Expect(err).NotTo(gomega.HaveOccurred())
				played, err := session.Replay(strings.NewReader(string(text)), func(logbook.Moment) error { return nil })
				h.g.Expect(err).NotTo(gomega.HaveOccurred())
				h.g.Expect(played.End).To(gomega.Equal(logbook.Over))
				h.g.Expect(played.Header.Sound).To(gomega.Equal(sound))
				_, err = session.Replay(io.LimitReader(strings.NewReader(string(text)), info.Size()/2), func(logbook.Moment) error { return nil })
				h.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("the logbook is cut off after")))
			}
		})
	}
}
