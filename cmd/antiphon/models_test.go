package main

// The output of `antiphon models`, and its errors.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
)

func TestModelsList(t *testing.T) {
	g := gomega.NewWithT(t)
	store, err := models.Open(t.TempDir())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var out strings.Builder
	g.Expect(list(&out, store)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.And(
		gomega.ContainSubstring("moonshine-tiny-en"), gomega.ContainSubstring("MIT"), gomega.ContainSubstring("neural-en"), gomega.ContainSubstring(store.Dir)))
}

func TestProgressBar(t *testing.T) {
	g := gomega.NewWithT(t)
	m := &models.Model{Name: "m", Package: models.Package{Bytes: 2_000_000}}
	var out strings.Builder
	bar := progressBar{w: &out, terminal: true}
	bar.show(m, 1_000_000)
	bar.end()
	g.Expect(out.String()).To(gomega.And(gomega.ContainSubstring("\rm "), gomega.ContainSubstring(" 50 % of 2.0 MB"), gomega.HaveSuffix("100 % of 2.0 MB\n")))
	out.Reset()
	bar = progressBar{w: &out}
	bar.show(m, 1)
	bar.show(m, 2)
	bar.end()
	g.Expect(out.String()).To(gomega.Equal("getting m, 2.0 MB\n"))
}

// A folder that cannot be made gives an error that says what to do.
func TestModelsGetIntoAFolderThatCannotBeWritten(t *testing.T) {
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(gomega.Succeed())
	err := (&getModels{Names: []string{"moonshine-tiny-en"}}).Run(t.Context(), &modelCommands{Dir: filepath.Join(file, "models")})
	g.Expect(err).To(gomega.MatchError(models.ErrFolder))
	g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring(file), gomega.ContainSubstring("ANTIPHON_MODELS"))))
}
