package protocolcheck

// The table of the protocol's events agrees with package wire's table, and coverage names what is missing.

import (
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// serverTable returns the part of the codec's table that is compared: fields by direction and type, and whether the codec
// always writes them.
func serverTable(t *testing.T) map[string]map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../wire/events.table")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	out := map[string]map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cols := strings.SplitN(line, " | ", 3)
		fields := map[string]bool{}
		row, _, _ := strings.Cut(cols[2], "| ") // a kind may contain a bare bar
		for _, spec := range strings.Fields(row) {
			name, kind, _ := strings.Cut(spec, ":")
			name, _, _ = strings.Cut(name, "=")
			fields[name] = !strings.HasSuffix(kind, "?")
		}
		if _, own := fields["event_id"]; !own {
			fields["event_id"] = cols[0] == "server"
		}
		out[cols[0]+" "+strings.TrimSpace(cols[1])] = fields
	}
	return out
}

// TestTablesAgree compares protocol.table with the codec's table: no event and no field is in one table only, and the codec
// always writes required fields.
func TestTablesAgree(t *testing.T) {
	g := gomega.NewWithT(t)
	theirs := serverTable(t)
	for _, e := range Events() {
		k := key(e.Server, e.Type)
		fields, there := theirs[k]
		g.Expect(there).To(gomega.BeTrue(), "wire/events.table has no %s", k)
		for _, f := range e.Fields {
			written, has := fields[f.Name]
			g.Expect(has).To(gomega.BeTrue(), "%s has no %s in wire/events.table", k, f.Name)
			if e.Server && !f.Optional {
				g.Expect(written).To(gomega.BeTrue(), "%s of %s is required and not always written", f.Name, k)
			}
			delete(fields, f.Name)
		}
		g.Expect(fields).To(gomega.BeEmpty(), "%s has fields that protocol.table does not have", k)
		delete(theirs, k)
	}
	for k := range theirs {
		g.Expect(k).To(gomega.ContainSubstring(" antiphon."), "protocol.table lacks it")
	}
	g.Expect(Events()).To(gomega.HaveLen(11 + 46))
}

func TestExcludedAreEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	n := 0
	for _, e := range Events() {
		reason, is := Excluded()[e.Type]
		g.Expect(is).To(gomega.Equal(e.On == OnNone), e.Type)
		if is {
			g.Expect(reason).NotTo(gomega.BeEmpty())
			n++
		}
	}
	g.Expect(n).To(gomega.Equal(len(Excluded())))
}

func TestNoTable(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := parse("# none\nserver | a\n")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("line 2 is no row")))
	g.Expect(func() { mustParse("nothing") }).To(gomega.Panic())
}

// TestCoverageNamesItsGaps adds up reports that are not complete.
func TestCoverageNamesItsGaps(t *testing.T) {
	g := gomega.NewWithT(t)
	var c Coverage
	g.Expect(c.String()).To(gomega.HavePrefix("events covered 0 / 57 (1 excluded)\nfields covered 0 / "))
	report, err := Record(strings.NewReader(string(good)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c.Add(report, OnWebRTC)
	gaps := c.Gaps()
	g.Expect(gaps).To(gomega.ContainElements(
		"server response.done was not seen over websocket",
		"server response.output_text.delta was not seen over webrtc and websocket",
		"server response.output_audio.delta was seen where it does not belong: it is for websocket",
		"server response.output_text.done: text was not seen",
		"Part.text: text was not seen",
	))
	g.Expect(gaps).NotTo(gomega.ContainElement(gomega.ContainSubstring("output_audio_buffer.cleared")))
	g.Expect(gaps).NotTo(gomega.ContainElement(gomega.ContainSubstring("conversation.item.created")))
	g.Expect(c.Lacking()).To(gomega.ContainElement("ResponseParams: metadata"))
	c.Add(Report{events: map[string]int{"server conversation.item.created": 1}}, OnWebRTC)
	g.Expect(c.Gaps()).To(gomega.ContainElement(gomega.HavePrefix("server conversation.item.created is excluded and was seen")))
}
