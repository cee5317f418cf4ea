package protocolcheck

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// docs/protocol.md says what the server does with every event, field and error code. These tests compare its lists with the tables
// and with the code.

func protocolPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/protocol.md")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return string(text)
}

var span = regexp.MustCompile("`([^`]+)`")

func spans(text string) []string {
	var out []string
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// section returns the text under a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n## "+heading+"\n")
	gomega.NewWithT(t).Expect(found).To(gomega.BeTrue(), "there is no section %s", heading)
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// rowsOf returns the cells of the tables in a text, without the heads.
func rowsOf(text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

func TestThePageHasEveryEvent(t *testing.T) {
	page := protocolPage(t)
	want := serverTable(t)
	where := map[string]string{OnAll: "both", OnWebRTC: "WebRTC", OnWebSocket: "WebSocket"}
	for _, side := range []struct{ heading, dir string }{{"Client events", "client "}, {"Server events", "server "}, {"Extensions", ""}} {
		for _, cells := range rowsOf(section(t, page, side.heading)) {
			g := gomega.NewWithT(t)
			g.Expect(cells).To(gomega.HaveLen(4), "%q", cells)
			name := side.dir + spans(cells[0])[0]
			if side.dir == "" { // an extension exists in one direction
				name = "server " + name
				if _, is := want[name]; !is {
					name = "client " + spans(cells[0])[0]
				}
			}
			fields, is := want[name]
			g.Expect(is).To(gomega.BeTrue(), "wire/events.table has no %s, or the page has it twice", name)
			g.Expect(spans(cells[1])).To(gomega.ConsistOf(slices.Collect(maps.Keys(fields))), "the fields of %s", name)
			g.Expect(cells[3]).NotTo(gomega.BeEmpty(), name)
			if e, is := rules.events[name]; is && e.On != OnNone {
				g.Expect(cells[2]).To(gomega.Equal(where[e.On]), name)
			} else if is {
				g.Expect(cells[2]).To(gomega.HavePrefix("no: "), name)
			}
			delete(want, name)
		}
	}
	gomega.NewWithT(t).Expect(slices.Collect(maps.Keys(want))).To(gomega.BeEmpty(), "the page lacks them")
}

// paths returns all fields below an object of the table, such as "audio.input.format".
func (t *table) paths(object, prefix string) []string {
	var out []string
	for name, fields := range t.objects {
		if name != object && !strings.HasPrefix(name, object+".") {
			continue
		}
		for _, f := range fields {
			if inner := t.paths(f.Object, prefix+f.Name+"."); f.Object != "" && len(inner) > 0 {
				out = append(out, inner...)
			}
			out = append(out, prefix+f.Name)
		}
	}
	return out
}

func TestThePageHasEveryField(t *testing.T) {
	page := protocolPage(t)
	for _, c := range []struct {
		heading, object string
		more            []string // fields that only the server sets
	}{
		{"The session", "SessionPatch", []string{"object", "id", "expires_at"}},
		{"response.create", "ResponseParams", nil},
	} {
		g := gomega.NewWithT(t)
		want := append(rules.paths(c.object, ""), c.more...)
		want = slices.DeleteFunc(want, func(p string) bool { // objects are listed by their fields
			return p == "audio" || p == "audio.input" || p == "audio.output"
		})
		var got []string
		for _, cells := range rowsOf(section(t, page, c.heading)) {
			got = append(got, spans(cells[0])[0])
		}
		g.Expect(got).To(gomega.ConsistOf(want), c.heading)
	}
	items := section(t, page, "Items")
	for object := range rules.objects {
		if kind, name, typed := strings.Cut(object, "."); typed && (kind == "Item" || kind == "Content") {
			gomega.NewWithT(t).Expect(items).To(gomega.ContainSubstring("`"+name+"`"), object)
		}
	}
}

// The folders whose codes stand on pages of their own: `antiphon once` is a program of its own, in docs/once.md, and the codes of runs are in the
// results of runs, in docs/runs.md.
const (
	once = "../../internal/once"
	runs = "../../internal/runs"
)

// codes returns the error codes in the code of the server and of the codec.
func codes(t *testing.T) map[string]bool {
	t.Helper()
	out := codesIn(t, "../../server", "../../internal", "../../wire")
	out["message_too_large"] = true // given to Refuse
	return out
}

// codesIn returns the error codes in the code of some folders. The folders once and runs count only where they are one of them.
func codesIn(t *testing.T, roots ...string) map[string]bool {
	t.Helper()
	g := gomega.NewWithT(t)
	out := map[string]bool{}
	named := regexp.MustCompile(`(?:\bcode: +|\bCode: +|\b[cC]ode[A-Z][A-Za-z]* += |refused\(|\bRefuse\(|internal\(|unknownItem\()"([a-z_]+)"`)
	staged := regexp.MustCompile(`\bStage[A-Z][a-z]+ += "([a-z]+)"`)
	for _, root := range roots {
		g.Expect(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if (path == once || path == runs) && root != path {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range named.FindAllSubmatch(text, -1) {
				out[string(m[1])] = true
			}
			for _, m := range staged.FindAllSubmatch(text, -1) {
				out[string(m[1])+"_failed"] = true
			}
			return err
		})).To(gomega.Succeed())
	}
	return out
}

func TestThePageHasEveryErrorCode(t *testing.T) {
	g := gomega.NewWithT(t)
	text := section(t, protocolPage(t), "Error codes")
	known := codes(t)
	told := map[string]bool{}
	for _, s := range spans(text) {
		told[s] = true
	}
	for code := range known {
		if settingNames[code] {
			continue
		}
		g.Expect(told[code]).To(gomega.BeTrue(), "docs/protocol.md does not say when %s comes", code)
	}
	for _, cells := range rowsOf(text) {
		g.Expect(known[spans(cells[0])[0]]).To(gomega.BeTrue(), "no code of the server's: %s", cells[0])
	}
}

func TestThePageOfOnceHasEveryErrorCode(t *testing.T) { hasEveryCode(t, "../../docs/once.md", once) }

func TestThePageOfRunsHasEveryCode(t *testing.T) { hasEveryCode(t, "../../docs/runs.md", runs) }

// hasEveryCode fails if a page does not name each code in the code of a folder.
func hasEveryCode(t *testing.T, name, folder string) {
	t.Helper()
	g := gomega.NewWithT(t)
	page, err := os.ReadFile(name)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	known := codesIn(t, folder)
	g.Expect(known).NotTo(gomega.BeEmpty())
	for code := range known {
		g.Expect(strings.Contains(string(page), "`"+code+"`")).To(gomega.BeTrue(), "%s does not say when %s comes", name, code)
	}
}

// settingNames look like error codes in the source and are none: they name the refused field.
var settingNames = map[string]bool{
	"type": true, "include": true, "tracing": true, "tool_choice": true, "transcription": true,
}

func TestThePageHasTheExtensionsSchemas(t *testing.T) {
	g := gomega.NewWithT(t)
	_, rest, _ := strings.Cut(section(t, protocolPage(t), "Extensions"), "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	var schemas map[string]struct {
		Required   []string
		Properties map[string]json.RawMessage
	}
	g.Expect(json.Unmarshal([]byte(text), &schemas)).To(gomega.Succeed())
	for name, fields := range serverTable(t) {
		typ, own := strings.CutPrefix(name, "server ")
		if !own {
			typ, _ = strings.CutPrefix(name, "client ")
		}
		if !strings.HasPrefix(typ, "antiphon.") {
			continue
		}
		s, is := schemas[typ]
		g.Expect(is).To(gomega.BeTrue(), "there is no schema of %s", typ)
		fields["type"] = true
		g.Expect(slices.Collect(maps.Keys(s.Properties))).To(gomega.ConsistOf(slices.Collect(maps.Keys(fields))), typ)
		if own {
			maps.DeleteFunc(fields, func(_ string, always bool) bool { return !always })
			g.Expect(s.Required).To(gomega.ConsistOf(slices.Collect(maps.Keys(fields))), typ)
		}
		delete(schemas, typ)
	}
	g.Expect(schemas).To(gomega.BeEmpty())
}
