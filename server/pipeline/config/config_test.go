package config

// The file: its stages, its mistakes with their positions, and where keys come from.

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTheBestVoiceOfThisMachine: a stage that the file leaves out takes the neural voice if this machine has it.
func TestTheBestVoiceOfThisMachine(t *testing.T) {
	for models, voice := range map[string]string{"../../../.cache/models": "sherpa", t.TempDir(): "flite"} {
		g := gomega.NewWithT(t)
		t.Setenv("ANTIPHON_MODELS", models)
		f, err := Parse("antiphon.yaml", []byte("llm: {kind: openai, url: http://127.0.0.1:11434/v1, model: a}"), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect([]string{f.STT.Kind(), f.TTS.Kind()}).To(gomega.Equal([]string{"sherpa", voice}))
	}
}

func TestStagesMix(t *testing.T) {
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	for src, name := range map[string]string{
		"":                                 "embedded",
		"\ufeffstt:\r\n  kind: sherpa\r\n": "embedded",
		"stt:\nllm:\n# nothing\n":          "embedded",
		"tts: {kind: scripted}":            "sherpa+assistant+scripted",
		"stt: {kind: scripted}\nllm: {kind: scripted}\ntts: {kind: flite, voice: rms}": "scripted+flite",
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f, err := Parse("antiphon.yaml", []byte(src), nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			p, err := f.Pipeline(t.Context(), Env{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(p.Name).To(gomega.Equal(name))
			g.Expect(p.Components()).To(gomega.HaveLen(3))
			g.Expect([]any{p.Transcriber, p.Model, p.Synthesizer}).NotTo(gomega.ContainElement(gomega.BeNil()))
			g.Expect(p.Close()).To(gomega.Succeed())
		})
	}
}

// Warm and Close of the pipeline are those of its stages. A stage of a script loads as long as the script says.
func TestPipelineWarmsAndClosesItsStages(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "s.yaml"), []byte("load: 1ms\n"), 0o600)).To(gomega.Succeed())
	f, err := Parse(filepath.Join(folder, "antiphon.yaml"), []byte("llm: {kind: scripted, script: s.yaml}\nstt: {kind: scripted}\ntts: {kind: scripted}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Components()[1].State).To(gomega.Equal(pipeline.StateLoading), "the script is relative to the file's folder")
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	for _, c := range p.Components() {
		g.Expect(c.State).To(gomega.Equal(pipeline.StateReady))
	}
	g.Expect(p.Close()).To(gomega.Succeed())
}

// remoteOnly is a struct of fields as a kind of a server has it.
type remoteOnly struct {
	Remote `yaml:",inline"`
	Voice  string `yaml:"voice"`
}

// TestMistakes: each mistake says where it is and what would be right.
func TestMistakes(t *testing.T) {
	for _, row := range []struct{ name, src, says string }{
		{"a typo", "stt: {kind: sherpa, proceses: 2}", `antiphon.yaml:1:21: unknown key "proceses"; did you mean "processes"?`},
		{"a section", "speech: 1", `antiphon.yaml:1:1: unknown key "speech"; known here: server, session, tools, mcp, phones, stt, llm, tts`},
		{"a kind", "llm:\n  kind: asistant", `antiphon.yaml:2:9: "asistant" is not known; did you mean "assistant"?`},
		{"a program", "llm:\n  kind: ollama", `antiphon.yaml:2:9: there is no kind ollama: use kind: openai with url: http://localhost:11434/v1`},
		{"a program in its own spelling", "llm: {kind: LM Studio}", `there is no kind LM Studio: use kind: openai with url: http://localhost:1234/v1`},
		{"a program of another kind", "stt: {kind: whisper}", `there is no kind whisper: use kind: whisper.cpp with url: http://localhost:8080`},
		{"a program of another stage", "llm: {kind: kokoro}", `"kokoro" is not known; want one of assistant`},
		{"no kind", "stt:\n  processes: 2", `antiphon.yaml:2:3: stt: kind is missing; want one of sherpa, openai, whisper.cpp`},
		{"an empty kind", "stt: {kind: ''}", `"" is not known`},
		{"a kind that is a number", "stt: {kind: 3}", `want a text, not "3": put it in quotes`},
		{"a stage that is a text", "stt: ears", `antiphon.yaml:1:6: want keys with values here, not the text "ears"`},
		{"a kind without its key", "stt: sherpa", `antiphon.yaml:1:6: want keys with values here: write kind: sherpa on a line of its own below stt`},
		{"no space", "stt:\n  kind:sherpa", `antiphon.yaml:2:3: want keys with values here, not the text "kind:sherpa": put a space behind the colon`},
		{"a script", "transcriber: {}", "give a script with --pipeline"},
		{"a wrong type", "stt: {kind: sherpa, processes: many}", `antiphon.yaml:1:32: want a whole number, not the text "many"`},
		{"out of range", "stt: {kind: sherpa, processes: 65}", `antiphon.yaml:1:32: 65 is out of range: want 0 to 64`},
		{"one of several", "session: {tool_choice: non}", `did you mean "none"?`},
		{"a list of those", "session: {output_modalities: [audio, txt]}", `antiphon.yaml:1:38: "txt" is not known; did you mean "text"?`},
		{"a list in place of a text", "session: {instructions: [a]}", "want a text, not a list"},
		{"a number in place of a text", "session: {instructions: 1}", "put it in quotes"},
		{"true in place of a number", "session: {max_output_tokens: true}", "want a whole number"},
		{"a bound of a fraction", "session: {audio: {output: {speed: 2}}}", "want 0.25 to 1.5"},
		{"a bound above", "session: {audio: {input: {turn_detection: {threshold: 1.5}}}}", "want 0 to 1"},
		{"what is missing", "session: {tools: [{type: function}]}", "name is missing"},
		{"a key", "tts: {kind: flite, key: sk-secret}", "antiphon.yaml:1:20: key: a key never stands in the file"},
		{"an anchor", "session: {instructions: &a text}", "anchors, aliases and tags are not read"},
		{"an alias", "session: {instructions: *a}", "anchors, aliases and tags are not read"},
		{"a merge", "session:\n  <<: {instructions: x}", "without anchor, tag or merge"},
		{"a tag", "session: {instructions: !!str 1}", "anchors, aliases and tags are not read"},
		{"a key twice", "stt: {kind: sherpa}\nstt: {kind: sherpa}", "antiphon.yaml:2:1: "},
		{"no YAML", "stt: [", "antiphon.yaml:1:6: "},
		{"two documents", "stt: {kind: sherpa}\n---\nllm: {kind: assistant}", "a second document"},
		{"a tab", "stt:\n\tkind: sherpa", "antiphon.yaml:2:"},
		{"too large", strings.Repeat("#", strict.MaxFile+1), "larger than"},
		{"brackets", "session: " + strings.Repeat("[", 1000), "levels of brackets"},
		{"lines", strings.Repeat("a:\n", 100_000), "100000 lines, more than 10000"},
		{"values", "session: [" + strings.Repeat("1,", 100_000) + "1]", "more than 50000 values and marks"},
		{"a long key", strings.Repeat("stt", 10_000) + ": 1", "known here: server"},
		{"lists", strings.Repeat("- ", 1000), "levels of brackets or lists"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := Parse("antiphon.yaml", []byte(row.src), nil)
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
			var at *strict.Error
			g.Expect(errors.As(err, &at)).To(gomega.BeTrue())
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("sk-secret"))
		})
	}
}

// All mistakes of a file are reported together, up to ten.
func TestAllMistakesTogether(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := Parse("antiphon.yaml", []byte("stt: {kind: sherpe}\nllm:\n  kind: assistant\n  mode_l: x\nsession: {instuctions: x}\n"), nil)
	g.Expect(strings.Split(err.Error(), "\n")).To(gomega.Equal([]string{
		`antiphon.yaml:1:13: "sherpe" is not known; did you mean "sherpa"?`,
		`antiphon.yaml:4:3: unknown key "mode_l"; no further key can stand here`,
		`antiphon.yaml:5:11: unknown key "instuctions"; did you mean "instructions"?`,
	}))
	var many strings.Builder
	for i := range 25 {
		many.WriteString("x" + strings.Repeat("y", i) + ": 1\n")
	}
	_, err = Parse("antiphon.yaml", []byte(many.String()), nil)
	g.Expect(strings.Split(err.Error(), "\n")).To(gomega.HaveLen(11))
	g.Expect(err).To(gomega.MatchError(gomega.HaveSuffix("and 15 more mistakes")))
}

// The fields that every kind of a server has.
func TestRemoteFields(t *testing.T) {
	g := gomega.NewWithT(t)
	var r remoteOnly
	src := "url: http://a/v1\nmodel: m\nkey_env: A_KEY\ntimeout: {connect: 1s, first_byte: 1m30s}\nheaders: {X-A: b}\nvoice: v\n"
	g.Expect(strict.Decode("f", []byte(src), &r, strict.Options{})).To(gomega.Succeed())
	g.Expect(r).To(gomega.Equal(remoteOnly{Voice: "v", Remote: Remote{
		URL: []string{"http://a/v1"}, Model: "m", KeyEnv: "A_KEY", Headers: map[string]string{"X-A": "b"},
		Timeout: Timeout{Connect: time.Second, FirstByte: 90 * time.Second},
	}}))
	g.Expect(strict.Decode("f", []byte("url: [http://a, http://b]"), &r, strict.Options{})).To(gomega.Succeed())
	g.Expect(r.URL).To(gomega.Equal([]string{"http://a", "http://b"}))
	for src, says := range map[string]string{
		"key: sk-secret":           "f:1:1: key: a key never stands in the file: name the environment variable that has it (key_env: NAME)",
		"api_key: sk-secret":       "key_file: PATH",
		"timeout: {connect: soon}": `want a duration such as 250ms, 1.5s or 2m, not the text "soon"`,
		"timeout: {connect: 2}":    "want a duration",
		"timeout: {connect: 2h}":   "2h0m0s is out of range: want 10ms to 1m",
		"timeout: 2s":              "want keys with values here",
		"url: {a: b}":              "want a list here, not keys with values",
		"headers: [a]":             "want keys with values here, not a list",
	} {
		err := strict.Decode("f", []byte(src), &r, strict.Options{Unknown: unknown})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), src)
		g.Expect(err.Error()).NotTo(gomega.ContainSubstring("sk-secret"))
	}
}

func TestKeys(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	full, empty := filepath.Join(folder, "full"), filepath.Join(folder, "empty")
	g.Expect(os.WriteFile(full, []byte("sk-file\n"), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(empty, []byte("\n"), 0o600)).To(gomega.Succeed())
	e := Env{Getenv: func(name string) string { return map[string]string{"SET": "sk-env"}[name] }}
	for want, r := range map[string]Remote{"": {}, "sk-env": {KeyEnv: "SET"}, "sk-file": {KeyFile: full}} {
		g.Expect(r.Key(e)).To(gomega.Equal(want))
	}
	for says, r := range map[string]Remote{
		"the environment variable UNSET (key_env) is not set": {KeyEnv: "UNSET"},
		"is empty":     {KeyFile: empty},
		"no such file": {KeyFile: filepath.Join(folder, "none")},
		"both":         {KeyFile: full, KeyEnv: "SET"},
	} {
		_, err := r.Key(e)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
}

// What a file says of a session is a session object of the protocol.
func TestSession(t *testing.T) {
	for src, want := range map[string]string{
		"":                               "",
		"session:":                       "",
		"session: {instructions: 'Hi.'}": `{"instructions":"Hi."}`,
		"session: {audio: {input: {turn_detection: null}}}":                                                          `{"audio":{"input":{"turn_detection":null}}}`,
		"session: {audio: {input: {turn_detection: {create_response: false, threshold: 0}}, output: {voice: rms}}}":  `{"audio":{"input":{"turn_detection":{"create_response":false,"threshold":0}},"output":{"voice":"rms"}}}`,
		"session: {audio: {input: {turn_detection: {silence_duration_ms: 30000}}}}":                                  `{"audio":{"input":{"turn_detection":{"silence_duration_ms":30000}}}}`,
		"session: {tools: [{type: function, name: f, parameters: {type: object, properties: {a: {enum: [1, x]}}}}]}": `{"tools":[{"name":"f","parameters":{"properties":{"a":{"enum":[1,"x"]}},"type":"object"},"type":"function"}]}`,
	} {
		t.Run(src, func(t *testing.T) {
			g := gomega.NewWithT(t)
			f, err := Parse("antiphon.yaml", []byte(src), nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			got, err := f.SessionJSON()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(string(got)).To(gomega.Equal(want))
		})
	}
}

// The model and the voice of the kinds are those that sessions begin with, unless the section session names others.
func TestModelAndVoice(t *testing.T) {
	g := gomega.NewWithT(t)
	for src, want := range map[string]string{
		"": "", "tts: {kind: scripted}": "", "tts: {kind: flite, voice: rms}": `{"audio":{"output":{"voice":"rms"}}}`,
		"tts: {kind: flite, voice: rms}\nsession: {audio: {output: {voice: slt}}}": `{"audio":{"output":{"voice":"slt"}}}`,
		"llm: {kind: openai, url: http://a, model: m}":                             `{"model":"m"}`,
		"llm: {kind: openai, model: m}\nsession: {model: n}":                       `{"model":"n"}`,
	} {
		f, err := Parse("antiphon.yaml", []byte(src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		got, err := f.SessionJSON()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(got)).To(gomega.Equal(want), src)
	}
}

// Any recogniser may look again at the whole utterance. It does so only where the file says so.
func TestRetranscribe(t *testing.T) {
	g := gomega.NewWithT(t)
	for src, want := range map[string]bool{
		"stt: {kind: scripted}":                      false,
		"stt: {kind: scripted, retranscribe: false}": false,
		"stt: {kind: scripted, retranscribe: true}":  true,
	} {
		f, err := Parse("antiphon.yaml", []byte(src+"\nllm: {kind: assistant}\ntts: {kind: scripted}"), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := f.Pipeline(t.Context(), Env{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.Retranscriber != nil).To(gomega.Equal(want), src)
		g.Expect(p.Close()).To(gomega.Succeed())
	}
	_, err := Parse("antiphon.yaml", []byte("llm: {kind: assistant, retranscribe: true}"), nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no further key")))
}

// A text is made speakable as the kind of the synthesizer needs it, or as the file says.
func TestSpeakable(t *testing.T) {
	t.Setenv("ANTIPHON_MODELS", t.TempDir()) // no neural voice
	g := gomega.NewWithT(t)
	for src, want := range map[string]string{
		"":                                      "5 kilometers",
		"tts: {kind: flite, speakable: any}":    "5 km",
		"tts: {kind: flite, speakable: none}":   "**5 km**",
		"tts: {kind: scripted}":                 "**5 km**",
		"tts: {kind: scripted, speakable: any}": "5 km",
	} {
		f, err := Parse("antiphon.yaml", []byte(src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		said := "**5 km**"
		if s := f.TTS.speakable(); s != nil {
			said = s()(said)
		}
		g.Expect(said).To(gomega.Equal(want), src)
	}
	_, err := Parse("antiphon.yaml", []byte("llm: {kind: assistant, speakable: any}"), nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no further key")))
}

// What is written in place of the name of a program is a file without mistakes.
func TestWrongKindsLeadToKinds(t *testing.T) {
	for _, s := range servers {
		for _, stage := range strings.Fields(s.stages) {
			_, err := Parse("antiphon.yaml", []byte(stage+": {kind: "+s.kind+", url: \""+s.url+"\"}"), nil)
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), s.names)
			for name := range strings.FieldsSeq(s.names) {
				gomega.NewWithT(t).Expect(wrongKind(stage, name)).NotTo(gomega.BeEmpty(), name)
			}
		}
	}
}

// TestTableIsComplete: each kind of the table stands once, says what it is, and is in docs/models.md.
func TestTableIsComplete(t *testing.T) {
	g := gomega.NewWithT(t)
	doc, err := os.ReadFile("../../../docs/models.md")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	seen := map[string]bool{}
	for _, k := range kinds {
		g.Expect(seen[k.Stage+k.Name]).To(gomega.BeFalse(), "%s %s stands twice", k.Stage, k.Name)
		seen[k.Stage+k.Name] = true
		g.Expect(k.Doc).NotTo(gomega.BeEmpty(), k.Name)
		g.Expect(string(doc)).To(gomega.ContainSubstring("\n| `"+k.Name+"` | "), "docs/models.md lacks it")
		all := strict.FieldsOf(k.fields())
		for _, f := range all {
			g.Expect(f.Doc).NotTo(gomega.BeEmpty(), "%s %s: %s has no doc", k.Stage, k.Name, f.Key)
			g.Expect(f.Key).NotTo(gomega.Equal("kind"))
		}
	}
}

// TestDocumentedFiles: each file in docs/models.md is right, has at most eight lines, and its pipeline can be opened.
func TestDocumentedFiles(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/models.md")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	blocks := strings.Split(string(doc), "```yaml\n")[1:]
	gomega.NewWithT(t).Expect(len(blocks)).To(gomega.BeNumerically(">", 5))
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		t.Run(strings.TrimSpace(text), func(t *testing.T) {
			g := gomega.NewWithT(t)
			f, err := Parse("antiphon.yaml", []byte(text), nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			p, err := f.Pipeline(t.Context(), Env{Getenv: func(string) string { return "sk-1" }})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(p.Close()).To(gomega.Succeed())
			g.Expect(strings.Count(text, "\n")).To(gomega.BeNumerically("<=", 8))
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"stt: {kind: sherpa, processes: 2}\nllm: {kind: assistant}\ntts: {kind: flite, voice: rms}",
		"session: {instructions: |\n  a\n audio: {input: {turn_detection: null}}}",
		"server: {listen: x}\nsession: {tools: [{type: function, name: f, parameters: {a: [1, 2.5, ~, true]}}]}",
		"a: &a [*a]\n<<: *a\n? b\n: !!c d\n---\ne: 'f", "- - - -", "{[{[", "stt: \"kind\"",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse("f", src, nil)
		if (file == nil) == (err == nil) {
			t.Fatal("neither a file nor an error, or both")
		}
		if err != nil {
			return
		}
		if _, err := file.SessionJSON(); err != nil {
			t.Fatal(err)
		}
	})
}

// The key turn lets a model hear the ends of turns, where the recogniser does not report them.
func TestTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	for src, judged := range map[string]bool{"": false, "turn: lexical": false, "turn: smart-turn": true, "turn: smart-turn\nstt: {kind: scripted}": true} {
		f, err := Parse("antiphon.yaml", []byte(src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := f.Pipeline(t.Context(), Env{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.EndJudge != nil).To(gomega.Equal(judged), src)
		g.Expect(p.EndOfTurn == nil).To(gomega.Equal(f.STT.Kind() == "scripted"), "the scripted recogniser reports ends")
		if judged {
			g.Expect(p.EndJudge.Component().State).To(gomega.Equal(pipeline.StateMissing))
		}
		g.Expect(p.Close()).To(gomega.Succeed())
	}
	_, err := Parse("antiphon.yaml", []byte("turn: neural"), nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("smart-turn")))
}

func TestTelephonesOverStreams(t *testing.T) {
	const src = `
phones:
  digits: sensitive
  principal: office
  streams:
    - {name: pbx, kind: asterisk, key_env: PBX_KEY, session: {instructions: Be short.}}
    - {name: twilio, kind: twilio, auth_token_env: TOKEN, url: "wss://a.example/v1/antiphon/phones/twilio", principal: other, calls: 5}
`
	g := gomega.NewWithT(t)
	env := map[string]string{"PBX_KEY": "0123456789abcdef", "TOKEN": "token"}
	e := Env{Getenv: func(name string) string { return env[name] }}
	f, err := Parse("antiphon.yaml", []byte(src), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	all, digits, err := f.PhoneStreams(e)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(digits).To(gomega.Equal(Digits("sensitive")))
	g.Expect(all).To(gomega.HaveLen(2))
	g.Expect([]string{all[0].Key, all[0].Principal, string(all[0].Session)}).To(gomega.Equal([]string{"0123456789abcdef", "office", `{"instructions":"Be short."}`}))
	g.Expect([]string{all[1].AuthToken, all[1].Principal}).To(gomega.Equal([]string{"token", "other"}))
	for name, row := range map[string][2]string{
		"a short key":         {"{name: pbx, kind: asterisk, key_env: TOKEN}", "fewer than 16 characters"},
		"no key":              {"{name: pbx, kind: asterisk}", "everybody may call"},
		"an unset variable":   {"{name: pbx, kind: asterisk, key_env: NOT_SET}", "NOT_SET"},
		"a bad name":          {"{name: PBX, kind: asterisk, key_env: PBX_KEY}", "small letters"},
		"a token of another":  {"{name: pbx, kind: telnyx, key_env: PBX_KEY, auth_token_env: TOKEN}", "only Twilio"},
		"a token without url": {"{name: pbx, kind: twilio, auth_token_env: TOKEN}", "url is needed"},
		"two of a name":       {"{name: pbx, kind: asterisk, key_env: PBX_KEY}, {name: pbx, kind: telnyx, key_env: PBX_KEY}", "two streams"},
	} {
		f, err := Parse("antiphon.yaml", []byte("phones: {streams: ["+row[0]+"]}"), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred(), name)
		_, _, err = f.PhoneStreams(e)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row[1])), name)
	}
	_, err = Parse("antiphon.yaml", []byte("phones: {streams: [{name: pbx, kind: fax}]}"), nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("asterisk, twilio")))
}
