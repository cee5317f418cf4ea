package llm

// What a model is told besides the instructions.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestBrief(t *testing.T) {
	oslo, err := time.LoadLocation("Europe/Oslo")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	now := time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		config  Config
		request pipeline.Request
		want    string
	}{
		"time of the user": {
			Config{Spoken: "Speak."},
			pipeline.Request{Instructions: "Be kind.", Spoken: true, TimeZone: oslo, Language: "nb"},
			"Be kind.\n\nSpeak.\n\nThe user speaks the language with the code nb.\n\nWhere the user is, it is Monday, 23 November 2026, 00:30 (CET, UTC+01:00).",
		},
		"time of the server": {
			Config{Spoken: "Speak."},
			pipeline.Request{},
			"The user's time zone is not known. On the server it is Sunday, 22 November 2026, 23:30 (UTC, UTC+00:00).",
		},
		"nothing":       {Config{NoTime: true}, pipeline.Request{Spoken: true, Language: "nb"}, ""},
		"only the note": {Config{NoTime: true, Spoken: "Speak."}, pipeline.Request{Spoken: true}, "Speak."},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(test.config.brief(test.request, now)).To(gomega.Equal(test.want))
		})
	}
}
