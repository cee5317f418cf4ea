package scripted

// Scripts: errors with their lines, and loading.

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
)

// TestBadScripts: each error says where it is and what would be right.
func TestBadScripts(t *testing.T) {
	for _, row := range []struct {
		name, script string
		line         int
		says         string
	}{
		{"unknown field", "model:\n  replys: []", 2, "replys"},
		{"no YAML", "model: [", 1, ""},
		{"wrong type", "model:\n  first_token: soon", 2, `want a duration such as 250ms, 1.5s or 2m, not the text "soon"`},
		{"another pipeline", "\npipeline: embedded", 2, `"embedded" is not known`},
		{"regexp", "model:\n  replies:\n    - when: {exact: a}\n    - when:\n        regexp: '('", 5, "missing closing )"},
		{"negative delay", "transcriber:\n  delay: -1s", 2, "want 0s to 10m"},
		{"long delay", "load: 11m", 1, "want 0s to 10m"},
		{"boundary", "transcriber:\n  rules:\n  - boundary: end", 3, `did you mean "eou"?`},
		{"two ends", "model:\n  replies:\n  - fail: x\n    stall: true", 3, "more than one of fail, stall and cut"},
		{"two ends of a voice", "synthesizer:\n  rules:\n  - fail: x\n    stall: true", 3, "both fail and stall"},
		{"call without a name", "model:\n  replies:\n  - calls:\n    - arguments: {}", 4, "name is missing"},
		{"tool condition in a stage that has none", "synthesizer:\n  rules:\n  - when: {tool: x}", 3, "model's replies only"},
		{"turn", "model:\n  replies:\n  - when: {turn: -1}", 3, "want 0 or more"},
		{"speedup", "synthesizer: {speedup: -2}", 1, "want 0.01 to"},
		{"too many replies", "model:\n  replies:\n" + strings.Repeat("  - say: x\n", 1001), 2, "the limit is 1000"},
		{"too large", strings.Repeat("#", strict.MaxFile+1), 0, "larger than"},
		{"two documents of nonsense", "a: b: c", 1, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := Parse("script.yaml", []byte(row.script))
			var e *ParseError
			g.Expect(errors.As(err, &e)).To(gomega.BeTrue(), "%v", err)
			if row.line > 0 {
				g.Expect(e.Line).To(gomega.BeNumerically("~", row.line, 1), e.Error())
			}
			g.Expect(e.Error()).To(gomega.HavePrefix("script.yaml:"))
			g.Expect(e.Msg).To(gomega.ContainSubstring(row.says))
		})
	}
}

func TestLoad(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	g.Expect(err).To(gomega.MatchError(os.ErrNotExist))
	path := filepath.Join(t.TempDir(), "script.yaml")
	g.Expect(os.WriteFile(path, []byte("pipeline: scripted\n"), 0o600)).To(gomega.Succeed())
	p, err := Load(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Name).To(gomega.Equal("scripted"))
	g.Expect(p.Close()).To(gomega.Succeed())
	_, err = Parse("", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "an empty script is the default behaviour")
}

// TestDocumentedScript: the script in docs/pipelines.md is a script.
func TestDocumentedScript(t *testing.T) {
	g := gomega.NewWithT(t)
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pipelines.md"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, rest, found := strings.Cut(string(doc), "```yaml\n")
	g.Expect(found).To(gomega.BeTrue())
	script, _, found := strings.Cut(rest, "```")
	g.Expect(found).To(gomega.BeTrue())
	_, err = Parse("docs/pipelines.md", []byte(script))
	g.Expect(err).NotTo(gomega.HaveOccurred())
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("model: {replies: [{when: {regexp: a}, say: b}]}"))
	f.Add([]byte("transcriber: {rules: [{boundary: eou}]}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Parse("f", src)
		if (s == nil) == (err == nil) {
			t.Fatal("neither a script nor an error, or both")
		}
	})
}
