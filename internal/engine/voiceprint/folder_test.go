package voiceprint

// People who are enrolled while the server runs.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestEnrolRecording(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := filepath.Join(t.TempDir(), "prints")
	begin := func() *Verifier {
		v, err := New(Config{Models: machine})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(v.Enrol("Eve", &Print{1})).To(gomega.Succeed())
		g.Expect(v.KeepIn(folder)).To(gomega.Succeed())
		return v
	}
	v := begin()
	g.Expect(v.EnrolRecording(t.Context(), "Ada/../x", buzz(110, 3))).To(gomega.MatchError(pipeline.ErrEnrolment))
	g.Expect(v.EnrolRecording(t.Context(), "Ada", buzz(110, 1))).To(gomega.MatchError(ErrTooShort))
	g.Expect(v.EnrolRecording(t.Context(), "Eve", buzz(110, 3))).To(gomega.MatchError(gomega.ContainSubstring("configuration")))
	g.Expect(v.EnrolRecording(t.Context(), "Ada", buzz(110, 3))).To(gomega.Succeed())

	v = begin() // the server starts anew
	g.Expect(v.Enrolled()).To(gomega.Equal([]string{"Ada", "Eve"}))
	g.Expect(v.Verify(t.Context(), buzz(110, 2))).To(gomega.Equal(pipeline.SpeakerVerdict{Authorised: true, Speaker: "Ada"}))
	g.Expect(v.EnrolRecording(t.Context(), "Ada", buzz(290, 3))).To(gomega.Succeed())
	g.Expect(v.Verify(t.Context(), buzz(110, 2))).To(gomega.BeZero(), "the new recording replaces the old one")
	g.Expect(v.Remove("Eve")).To(gomega.MatchError(gomega.ContainSubstring("configuration")))
	g.Expect(v.Remove("Bob")).To(gomega.MatchError(pipeline.ErrEnrolment))
	g.Expect(v.Remove("Ada")).To(gomega.Succeed())
	g.Expect(v.Verify(t.Context(), buzz(290, 2))).To(gomega.BeZero())
	g.Expect(begin().Enrolled()).To(gomega.Equal([]string{"Eve"}))
	g.Expect(os.ReadDir(folder)).To(gomega.BeEmpty())
}

// A file that is no print stops the server: nobody passes by mistake.
func TestWrongFilesOfPrints(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":    "print",
		"too short":  `{"Name":"Ada","Print":[1]}`,
		"not a unit": `{"Name":"Ada","Print":[` + strings.Repeat("0,", size-1) + `0]}`,
		"no name":    `{"Name":"","Print":[` + strings.Repeat("0,", size-1) + `1]}`,
		"twice":      `{"Name":"Eve","Print":[` + strings.Repeat("0,", size-1) + `1]}`,
	} {
		g := gomega.NewWithT(t)
		folder := t.TempDir()
		g.Expect(os.WriteFile(filepath.Join(folder, "a"+suffix), []byte(text), 0o600)).To(gomega.Succeed())
		v := &Verifier{people: map[string]*Print{"Eve": {1}}, kept: map[string]bool{}}
		g.Expect(v.KeepIn(folder)).To(gomega.MatchError(gomega.ContainSubstring("delete the file")), name)
	}
}
