package sdk

// Tests of the JSON of session.update, which the client writes from a Patch.

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// TestPatchesAreTaken gives the settings that the client writes to the server's own function that merges settings.
func TestPatchesAreTaken(t *testing.T) {
	text, empty, yes, no := `say "no\yes"`+"\n\x01", "", true, false
	near := wire.NearField
	for name, patch := range map[string]Patch{
		"instructions":          {Instructions: &text},
		"instructions, cleared": {Instructions: &empty},
		"voice":                 {Voice: &text},
		"language":              {Language: &text},
		"language, cleared":     {Language: &empty},
		"noise reduction":       {NoiseReduction: &near},
		"no noise reduction":    {NoiseReduction: &empty},
		"text":                  {TextReplies: &yes},
		"speech":                {TextReplies: &no},
		"no tools":              {Tools: &[]Tool{}},
		"tools":                 {Tools: &[]Tool{{Name: "a", Description: text}, {Name: "b", Parameters: []byte(` {"type":"object"}`)}}},
		"manual":                {TurnDetection: &TurnDetection{Manual: true}},
		"semantic":              {TurnDetection: &TurnDetection{Semantic: true, Eagerness: "low"}},
		"silence":               {TurnDetection: &TurnDetection{Threshold: 0.7, Silence: 400 * time.Millisecond, PrefixPadding: time.Second}},
		"all":                   {Instructions: &text, Voice: &text, Language: &text, TextReplies: &yes, TurnDetection: &TurnDetection{NoInterrupt: true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			written := sessionJSON(patch, "")
			g.Expect(written.Valid()).To(gomega.BeTrue(), string(written))
			session := wire.DefaultSession()
			g.Expect(session.Merge(written)).To(gomega.Succeed(), string(written))
			if patch.Instructions != nil {
				g.Expect(session.Instructions).To(gomega.Equal(*patch.Instructions))
			}
			if patch.Language != nil {
				g.Expect(session.Audio.Input.Transcription).NotTo(gomega.BeNil())
			}
			if kind := patch.NoiseReduction; kind != nil && *kind != "" {
				g.Expect(session.Audio.Input.NoiseReduction).To(gomega.HaveField("Type", *kind))
			} else {
				g.Expect(session.Audio.Input.NoiseReduction).To(gomega.BeNil())
			}
			if td := patch.TurnDetection; td != nil {
				g.Expect(session.Audio.Input.TurnDetection == nil).To(gomega.Equal(td.Manual))
			}
		})
	}
}

func TestAnEmptyPatchWritesNothing(t *testing.T) {
	gomega.NewWithT(t).Expect(sessionJSON(Patch{}, "")).To(gomega.BeNil())
}

func FuzzJSONStrings(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\"b\\c\n\t\x00\x1f", "é€😀\u2028", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := newJSON().Object().Key("k").Text(text).Key("l").List().Text(text).Int(1).Bool(true).Float(0.5).EndList().EndObject().Bytes()
		var read struct {
			K string
			L []any
		}
		if err := json.Unmarshal(written, &read); err != nil {
			t.Fatalf("%q: %v", written, err)
		}
		if utf8.ValidString(text) && read.K != text {
			t.Fatalf("wrote %q, read %q", text, read.K)
		}
	})
}
