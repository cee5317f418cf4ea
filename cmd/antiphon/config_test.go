package main

// The configuration of `antiphon serve`: which value wins, which file is read, and that its keys are the flags.

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// parse returns the commands of a command line.
func parse(t *testing.T, args ...string) (*commands, *kong.Context) {
	t.Helper()
	g := gomega.NewWithT(t)
	var c commands
	k, err := kong.New(&c, kong.DefaultEnvars("ANTIPHON"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	line, err := k.Parse(args)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return &c, line
}

// TestFlagsWin: a flag on the command line wins over one of the environment, that over the file, and the file over the default.
func TestFlagsWin(t *testing.T) {
	g := gomega.NewWithT(t)
	path := write(t, "antiphon.yaml", "server:\n  max-sessions: 3\n  drain: 5s\n  origin: [https://a.test]\n  max-late: 0\n  secret-single-use: true\n  opus-bitrate:\n")
	t.Setenv("ANTIPHON_DRAIN", "7s")
	c, line := parse(t, "serve", "--config", path, "--max-sessions", "9")
	file, err := c.Serve.readConfig(givenOn(line))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Serve.MaxSessions).To(gomega.Equal(9), "the flag")
	g.Expect(c.Serve.Drain).To(gomega.Equal(7*time.Second), "the environment")
	g.Expect(c.Serve.Origin).To(gomega.Equal([]string{"https://a.test"}), "the file")
	g.Expect(c.Serve.MaxLate).To(gomega.BeZero(), "the file says zero")
	g.Expect(c.Serve.SecretSingleUse).To(gomega.BeTrue())
	g.Expect(c.Serve.OpusBitrate).To(gomega.Equal(40000), "the default")
	g.Expect(file.STT.Kind()).To(gomega.Equal("sherpa"))
}

// TestConfigIsFound: antiphon.yaml in the working folder is read without a flag. --pipeline wins over its stages alone.
func TestConfigIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	c, line := parse(t, "serve")
	g.Expect(c.Serve.readConfig(givenOn(line))).To(gomega.BeNil())
	g.Expect(os.WriteFile(config.Name, []byte("server: {max-sessions: 3}\nllm: {kind: scripted}\n"), 0o600)).To(gomega.Succeed())
	for _, row := range []struct {
		args []string
		name string
	}{
		{[]string{"serve"}, "sherpa+scripted+flite"},
		{[]string{"serve", "--pipeline", "scripted"}, "scripted"},
	} {
		c, line := parse(t, row.args...)
		given := givenOn(line)
		file, err := c.Serve.readConfig(given)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(file.Path).To(gomega.Equal(config.Name))
		g.Expect(c.Serve.MaxSessions).To(gomega.Equal(3))
		var log strings.Builder
		p, err := c.Serve.open(t.Context(), file, given["pipeline"], slog.New(slog.NewTextHandler(&log, nil)))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.Name).To(gomega.Equal(row.name))
		g.Expect(p.Close()).To(gomega.Succeed())
		g.Expect(log.String()).To(gomega.ContainSubstring("file=" + config.Name))
	}
}

// A configuration is no script: the error says which flag takes it.
func TestConfigAsScript(t *testing.T) {
	_, err := openPipeline(t.Context(), "folder/"+config.Name, 0, slog.New(slog.DiscardHandler))
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("give it with --config")))
}

// TestEveryFlagHasItsKey: the section server has exactly the flags of serve, but for those that say why not.
func TestEveryFlagHasItsKey(t *testing.T) {
	g := gomega.NewWithT(t)
	_, line := parse(t, "serve")
	var flags, keys, without []string
	for _, f := range line.Selected().Flags {
		flags = append(flags, f.Name)
	}
	for _, f := range strict.FieldsOf(&serve{}) {
		keys = append(keys, f.Key)
		g.Expect(f.Doc).NotTo(gomega.BeEmpty(), f.Key)
		if f.Tag.Get("nofile") != "" {
			without = append(without, f.Key)
		}
	}
	slices.Sort(flags)
	slices.Sort(keys)
	g.Expect(keys).To(gomega.Equal(flags))
	g.Expect(without).To(gomega.Equal([]string{"config", "pipeline"}))
}

func TestConfigCheck(t *testing.T) {
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	folder := t.TempDir()
	t.Chdir(folder)
	for name, row := range map[string]struct{ text, says string }{
		"right":            {"llm: {kind: scripted}\n", ""},
		"mistakes":         {"server: {max-sesions: 3, log-level: loud, api-key-file: none, config: x, max-cpu: -3}\n", "has mistakes:\n"},
		"a flag's name":    {"server: {max-sesions: 3}", `c.yaml:1:10: unknown key "max-sesions"; did you mean "max-sessions"?`},
		"a flag's value":   {"server: {log-level: loud}", "want one of debug, info, warn, error"},
		"no such file":     {"server: {api-key-file: none}", "there is no file " + filepath.Join(folder, "none")},
		"another file":     {"server: {config: x}", "config: a file cannot name another one"},
		"a pipeline":       {"server: {pipeline: scripted}", "pipeline: the sections stt, llm and tts say what answers"},
		"an unknown voice": {"session: {audio: {output: {voice: none}}}", `c.yaml: session.audio.output.voice: synthesizer: unknown voice "none"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(os.WriteFile("c.yaml", []byte(row.text), 0o600)).To(gomega.Succeed())
			var out strings.Builder
			err := (&checkConfig{File: filepath.Join(folder, "c.yaml")}).check(t.Context(), &out)
			if row.says != "" {
				g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
				return
			}
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(out.String()).To(gomega.Equal("c.yaml is right: stt sherpa, llm scripted, tts flite\n"))
		})
	}
	err := (&checkConfig{File: "antiphon.yaml", Config: filepath.Join(folder, "none.yaml")}).check(t.Context(), new(strings.Builder))
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("run antiphon setup")))
}

// The schema has the keys of the server and the fields of each kind.
func TestSchema(t *testing.T) {
	g := gomega.NewWithT(t)
	text, err := json.Marshal(config.Schema(&serve{}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var schema struct {
		Properties struct {
			Server struct {
				Properties map[string]struct {
					Minimum *float64
					Enum    []any
				}
			}
			TTS struct {
				AllOf []struct {
					Then struct {
						AdditionalProperties bool
						Properties           map[string]any
					}
				}
			}
		}
	}
	g.Expect(json.Unmarshal(text, &schema)).To(gomega.Succeed())
	server := schema.Properties.Server.Properties
	g.Expect(*server["max-sessions"].Minimum).To(gomega.BeZero())
	g.Expect(server["log-level"].Enum).To(gomega.ContainElement("debug"))
	g.Expect(server).NotTo(gomega.HaveKey("pipeline"))
	g.Expect(schema.Properties.TTS.AllOf[0].Then.Properties).To(gomega.HaveKey("voice"))
}

// The configuration decides how turns end on the Talk page, too.
func TestPageLeavesTurnsToTheConfiguration(t *testing.T) {
	for session, sets := range map[string]bool{
		"":                             false,
		`{"instructions":"Be brief."}`: false,
		`{"audio":{"input":{"transcription":{"language":"en"}}}}`:  false,
		`{"audio":{"input":{"turn_detection":null}}}`:              true,
		`{"audio":{"input":{"turn_detection":{"threshold":0.5}}}}`: true,
	} {
		gomega.NewWithT(t).Expect(setsTurns([]byte(session))).To(gomega.Equal(sets), session)
	}
}
