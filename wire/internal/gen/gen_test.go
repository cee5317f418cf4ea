package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	g := gomega.NewWithT(t)
	files, err := generate("../..")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(files).To(gomega.HaveLen(3))
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../..", name))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(got)).To(gomega.Equal(string(want)), "%s differs: run go generate ./wire", name)
	}
}

func TestRunWritesTheFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	g.Expect(run(dir)).NotTo(gomega.Succeed())
	row := "server | a.b | id=OwnID:string n:int? | It is.\n"
	g.Expect(os.WriteFile(filepath.Join(dir, "events.table"), []byte(row), 0o600)).To(gomega.Succeed())
	g.Expect(run(dir)).To(gomega.Succeed())
	text, err := os.ReadFile(filepath.Join(dir, "codec_gen.go"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.ContainSubstring(`c.bind("event_id! id! n?", &e.EventID, &e.OwnID, &e.N)`))
	g.Expect(string(text)).To(gomega.ContainSubstring(`{"a.b", "event_id id"}`))
}

func TestNames(t *testing.T) {
	g := gomega.NewWithT(t)
	for wire, want := range map[string]string{
		"session.created":                         "SessionCreated",
		"response.output_audio.delta":             "ResponseOutputAudioDelta",
		"error":                                   "ErrorEvent",
		"mcp_list_tools.in_progress":              "MCPListToolsInProgress",
		"input_audio_buffer.dtmf_event_received":  "InputAudioBufferDTMFEventReceived",
		"response.mcp_call_arguments.done":        "ResponseMCPCallArgumentsDone",
		"conversation.item.truncate":              "ConversationItemTruncate",
		"antiphon.hello":                          "AntiphonHello",
		"input_audio_buffer.timeout_triggered":    "InputAudioBufferTimeoutTriggered",
		"conversation.item.input_audio_buffer.id": "ConversationItemInputAudioBufferID",
	} {
		g.Expect(eventName(wire)).To(gomega.Equal(want))
	}
}

func TestBadRowsAreRefused(t *testing.T) {
	for row, want := range map[string]string{
		"server | a.b":                                            "want 4 columns",
		"sideways | a.b | | It is.":                               "want client or server",
		"server | a.b | item | It is.":                            "want name:kind",
		"server | a.b | n:number | It is.":                        "unknown kind",
		"server | a.b | n:int[] | It is.":                         "only objects come in lists",
		"server | a.b | n:int|null | It is.":                      "only a string may be null",
		"server | a.b | | It is.\nclient | a.b | | It is.":        "line 2: a.b stands twice",
		"# a comment\n\nserver | a.b | | It is.\nserver | a_b | ": "line 4",
	} {
		t.Run(row, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := parse(strings.NewReader(row))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)))
		})
	}
}
