package signal

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// closedDesk is a Handler that no call is placed on.
func closedDesk() *Handler {
	return New(Config{Pipeline: scripted.New(scripted.Options{}), Settings: wire.DefaultSession()})
}

// FuzzCallForm: whatever body a call comes with, it is an offer with a session that can be, or a problem that names a code.
func FuzzCallForm(f *testing.F) {
	body, kind := form(part{"sdp", "", "", offer}, part{"session", "blob", "application/json", `{"type":"realtime","instructions":"x"}`})
	var text bytes.Buffer
	_, _ = text.ReadFrom(body)
	f.Add(kind, text.Bytes())
	f.Add("application/sdp", []byte(offer))
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\nv=0\r\n--x--"))
	f.Add("multipart/form-data; boundary=", []byte("--"))
	h := closedDesk()
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/realtime/calls", bytes.NewReader(body))
		r.Header.Set("Content-Type", kind)
		_, settings, p := h.readCall(httptest.NewRecorder(), r, requester{})
		switch {
		case p == nil && settings.Type != "realtime" && settings.Type != "transcription":
			t.Errorf("a session of type %q", settings.Type)
		case p != nil && (p.status < 400 || p.status > 499 || p.code == "" || p.message == ""):
			t.Errorf("a problem that says nothing: %+v", p)
		}
	})
}

// FuzzClientSecret: whatever is asked of a client secret, there is one, for a time that is allowed, or a problem.
func FuzzClientSecret(f *testing.F) {
	f.Add([]byte(`{"expires_after":{"anchor":"created_at","seconds":600},"session":{"type":"realtime","tools":[]}}`))
	f.Add([]byte(`{"session":{"type":"transcription"}}`))
	f.Add([]byte(`{"expires_after":{"anchor":"created\u005fat"},"expires_after":null}`))
	h := closedDesk()
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
		case p != nil && (p.status != http.StatusBadRequest || p.code == "" || p.message == ""):
			t.Errorf("a problem that says nothing: %+v", p)
		}
	})
}

// FuzzSecretValue: nobody makes a secret but the server.
func FuzzSecretValue(f *testing.F) {
	v := newSecretStore(SecretRules{})
	value, _, _ := v.create("desk", wire.Session{}, 0, time.Hour)
	f.Add(strings.Repeat("a", 64))
	f.Add(value[len(secretPrefix):])
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, ok := v.find(secretPrefix + text); ok && secretPrefix+text != value {
			t.Errorf("%q is taken for a secret", text)
		}
	})
}

// FuzzReadKeys: a key file that can be read has keys with names, and each key finds its own.
func FuzzReadKeys(f *testing.F) {
	f.Add("# keys\nsha256:" + strings.Repeat("0a", sha256.Size) + " desk\nplain-text-of-a-key\n")
	f.Add("sha256:\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ReadKeys(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, k := range keys {
			if k.Name == "" || len(k.Name) > maxName {
				t.Errorf("a principal named %q", k.Name)
			}
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || strings.HasPrefix(line, sumPrefix) {
				continue
			}
			if _, ok := keys.principal(line); !ok {
				t.Errorf("the key %q is not among them", line)
			}
		}
	})
}
