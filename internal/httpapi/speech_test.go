package httpapi

// Recordings and texts over HTTP: who may ask, and how the refusals of package speechapi arrive.

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

func TestSpeechWantsAKey(t *testing.T) {
	d := open(t, func(c *Config) {
		c.Keys = keys(t)
		script, err := scripted.Parse("script", []byte("synthesizer: {missing: apt install voice}"))
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		c.Pipeline.Synthesizer = scripted.New(scripted.Options{Script: script}).Synthesizer
	})
	auth := []string{"Authorization", "Bearer " + key}
	w := d.ask(http.MethodPost, "/v1/audio/speech", strings.NewReader(`{"input":"hello"}`), auth...)
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusServiceUnavailable))
	d.g.Expect(w.Body.String()).To(gomega.MatchRegexp(`"code":"stage_unavailable".*apt install voice.*"type":"server_error"`))
	d.refused(d.ask(http.MethodPost, "/v1/audio/speech", strings.NewReader(`{"input":""}`), auth...), 400, "invalid_value", "input: a text of 0")
	d.refused(d.ask(http.MethodPost, "/v1/audio/transcriptions", strings.NewReader("{}"), auth...), 415, "unsupported_media_type", "form")
	d.refused(d.ask(http.MethodPost, "/v1/audio/speech", strings.NewReader(`{"input":"hello"}`)), 401, "invalid_api_key", "show a key")

	var made struct{ Value string }
	w = d.ask(http.MethodPost, "/v1/realtime/client_secrets", strings.NewReader("{}"), append(auth, "Content-Type", "application/json")...)
	d.g.Expect(json.Unmarshal(w.Body.Bytes(), &made)).To(gomega.Succeed())
	d.refused(d.ask(http.MethodPost, "/v1/audio/speech", strings.NewReader(`{"input":"hello"}`), "Authorization", "Bearer "+made.Value),
		403, "client_secret_not_allowed", "is for calls")

	d.refused(d.ask(http.MethodGet, "/v1/antiphon/voices", nil, "Authorization", "Bearer "+made.Value), 403, "client_secret_not_allowed", "is for calls")
	d.refused(d.ask(http.MethodPost, "/v1/antiphon/voices", nil, auth...), 404, "no_enrolment", "folder")
	d.refused(d.ask(http.MethodPost, "/v1/antiphon/voices/Ada/remove", nil), 401, "invalid_api_key", "show a key")

	w = d.ask(http.MethodGet, "/v1/models", nil, auth...)
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
	d.g.Expect(w.Body.String()).To(gomega.ContainSubstring(`"id":"scripted"`))
}
