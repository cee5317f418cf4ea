package httpapi

// Fuzz tests of everything that a request contains.

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// idleHandler returns a Handler without calls.
func idleHandler() *Handler {
	return New(Config{Pipeline: scripted.New(scripted.Options{}), Settings: wire.DefaultSession()})
}

// FuzzCallForm checks that every body of a call is read as an offer with valid settings, or refused with a code.
func FuzzCallForm(f *testing.F) {
	body, kind := form(part{"sdp", "", "", offer}, part{"session", "blob", "application/json", `{"type":"realtime","instructions":"x"}`})
	var text bytes.Buffer
	_, _ = text.ReadFrom(body)
	f.Add(kind, text.Bytes())
	f.Add("application/sdp", []byte(offer))
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\nv=0\r\n--x--"))
	f.Add("multipart/form-data; boundary=", []byte("--"))
	h := idleHandler()
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/realtime/calls", bytes.NewReader(body))
		r.Header.Set("Content-Type", kind)
		_, settings, p := h.readCall(httptest.NewRecorder(), r, requester{})
		switch {
		case p == nil && settings.Type != "realtime" && settings.Type != "transcription":
			t.Errorf("a session of type %q", settings.Type)
		case p != nil && (p.Status < 400 || p.Status > 499 || p.Code == "" || p.Message == ""):
			t.Errorf("a problem that says nothing: %+v", p)
		}
	})
}

// FuzzClientSecret checks that every request for a client secret leads to a secret with an allowed lifetime, or is refused.
func FuzzClientSecret(f *testing.F) {
	f.Add([]byte(`{"expires_after":{"anchor":"created_at","seconds":600},"session":{"type":"realtime","tools":[]}}`))
	f.Add([]byte(`{"session":{"type":"transcription"}}`))
	f.Add([]byte(`{"expires_after":{"anchor":"created\u005fat"},"expires_after":null}`))
	h := idleHandler()
	f.Fuzz(func(t *testing.T, body []byte) {
		if !wire.Raw(body).Valid() {
			return // readJSON has refused it
		}
		settings, lifetime := wire.DefaultSession(), time.Minute
		p := h.readSecret(body, &settings, &lifetime)
		switch {
		case p == nil && (lifetime < shortestSecret*time.Second || lifetime > longestSecret*time.Second):
			t.Errorf("a lifetime of %v", lifetime)
		case p == nil && !wire.Raw(shown(settings)).Valid():
			t.Errorf("a session that is no JSON: %s", shown(settings))
		case p != nil && (p.Status != http.StatusBadRequest || p.Code == "" || p.Message == ""):
			t.Errorf("a problem that says nothing: %+v", p)
		}
	})
}
