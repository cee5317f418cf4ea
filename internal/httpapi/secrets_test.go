package httpapi

// Client secrets: limits, expiry and rates.

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/secrets"
	"github.com/antiphon-rt/antiphon/wire"
)

const jsonType = "application/json"

var withKey = []string{"Authorization", "Bearer " + key}

// secret creates a client secret and returns its value.
func (d *harness) secret(body string) string {
	d.t.Helper()
	w := d.ask(http.MethodPost, "/v1/realtime/client_secrets", strings.NewReader(body), append([]string{"Content-Type", jsonType}, withKey...)...)
	var told struct{ Value string }
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK), w.Body.String())
	d.g.Expect(json.Unmarshal(w.Body.Bytes(), &told)).To(gomega.Succeed())
	return told.Value
}

func TestClientSecret(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	for _, row := range []struct {
		name, body string
		seconds    int64
	}{
		{"an empty body", ``, 600},
		{"nothing said in JSON", `{"expires_after":null,"session":null}`, 600},
		{"a time", `{"expires_after":{"anchor":"created_at","seconds":7200}}`, 7200},
		{"the least time", `{"expires_after":{"seconds":10}}`, 10},
		{"a time as Python writes a float", `{"expires_after":{"seconds":600.0}}`, 600},
		{"a time with an exponent", `{"expires_after":{"seconds":6e2}}`, 600},
		{"an anchor alone", `{"expires_after":{"anchor":"created_at"}}`, 600},
		{"a session", `{"session":{"type":"realtime","instructions":"Be brief.","audio":{"output":{"voice":"slt"}}}}`, 600},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := d.in(t)
			began := time.Now().Unix()
			w := d.ask(http.MethodPost, "/v1/realtime/client_secrets", strings.NewReader(row.body), append([]string{"Content-Type", jsonType}, withKey...)...)
			d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK), w.Body.String())
			var told struct {
				Value     string
				ExpiresAt int64 `json:"expires_at"`
				Session   map[string]any
			}
			d.g.Expect(json.Unmarshal(w.Body.Bytes(), &told)).To(gomega.Succeed())
			d.g.Expect(told.Value).To(gomega.HavePrefix("ek_"))
			d.g.Expect(told.ExpiresAt).To(gomega.BeNumerically("~", began+row.seconds, 1))
			for _, field := range []string{"type", "object", "model", "output_modalities", "instructions", "audio", "tools", "tool_choice", "truncation"} {
				d.g.Expect(told.Session).To(gomega.HaveKey(field), "the whole session object")
			}
			if strings.Contains(row.body, "brief") {
				d.g.Expect(told.Session["instructions"]).To(gomega.Equal("Be brief."))
			}
		})
	}
}

func TestBadClientSecret(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	for _, row := range []struct {
		name, body, kind string
		status           int
		code, param      string
	}{
		{"no JSON", `{`, jsonType, 400, "invalid_json", ""},
		{"an array", `[]`, jsonType, 400, "invalid_type", ""},
		{"null", `null`, jsonType, 400, "invalid_type", ""},
		{"another type", `{}`, "text/plain", 415, "unsupported_media_type", ""},
		{"no type", `{}`, "", 415, "unsupported_media_type", ""},
		{"too much", `{"session":{"instructions":"` + strings.Repeat("x", maxBody) + `"}}`, jsonType, 413, "body_too_large", ""},
		{"an unknown parameter", `{"expires":7}`, jsonType, 400, "unknown_parameter", "expires"},
		{"an unknown nested parameter", `{"expires_after":{"minutes":7}}`, jsonType, 400, "unknown_parameter", "expires_after.minutes"},
		{"a lifetime that is no object", `{"expires_after":600}`, jsonType, 400, "invalid_type", "expires_after"},
		{"another anchor", `{"expires_after":{"anchor":"used_at","seconds":60}}`, jsonType, 400, "invalid_value", "expires_after.anchor"},
		{"too short", `{"expires_after":{"anchor":"created_at","seconds":9}}`, jsonType, 400, "invalid_value", "expires_after.seconds"},
		{"too long", `{"expires_after":{"anchor":"created_at","seconds":7201}}`, jsonType, 400, "invalid_value", "expires_after.seconds"},
		{"no number", `{"expires_after":{"anchor":"created_at","seconds":"60"}}`, jsonType, 400, "invalid_type", "expires_after.seconds"},
		{"half a second", `{"expires_after":{"anchor":"created_at","seconds":60.5}}`, jsonType, 400, "invalid_type", "expires_after.seconds"},
		{"a session that is no object", `{"session":7}`, jsonType, 400, "invalid_type", "session"},
		{"a session of another type", `{"session":{"type":"telephone"}}`, jsonType, 400, "invalid_value", "session.type"},
		{"a session with a wrong value", `{"session":{"type":"realtime","audio":{"output":{"speed":9}}}}`, jsonType, 400, "invalid_value", "session.audio.output.speed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := d.in(t)
			w := d.ask(http.MethodPost, "/v1/realtime/client_secrets", strings.NewReader(row.body), append([]string{"Content-Type", row.kind}, withKey...)...)
			d.refused(w, row.status, row.code, "")
			var told struct{ Error struct{ Param *string } }
			d.g.Expect(json.Unmarshal(w.Body.Bytes(), &told)).To(gomega.Succeed())
			if row.param != "" {
				d.g.Expect(told.Error.Param).To(gomega.HaveValue(gomega.Equal(row.param)))
			} else {
				d.g.Expect(told.Error.Param).To(gomega.BeNil())
			}
		})
	}
	t.Run("no key", func(t *testing.T) {
		d := d.in(t)
		d.refused(d.ask(http.MethodPost, "/v1/realtime/client_secrets", nil), http.StatusUnauthorized, "invalid_api_key", "")
	})
	t.Run("a client secret makes no other", func(t *testing.T) {
		d := d.in(t)
		w := d.ask(http.MethodPost, "/v1/realtime/client_secrets", nil, "Authorization", "Bearer "+d.secret(`{}`))
		d.refused(w, http.StatusForbidden, "client_secret_not_allowed", "API key")
	})
}

// offered begins a call over WebRTC whose client never connects.
func (d *harness) offered(path, bearer string, parts ...part) (answer answered) {
	d.t.Helper()
	body, kind := form(append(parts, part{"sdp", "", "", offer})...)
	w := d.ask(http.MethodPost, path, body, "Content-Type", kind, "Authorization", "Bearer "+bearer)
	return answered{d, w}
}

func TestSecretsOpenCalls(t *testing.T) {
	const calls = "/v1/realtime/calls"
	bound := `{"session":{"type":"realtime","model":"house","instructions":"Be brief."}}`
	t.Run("any number", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys = keys(t) })
		s := d.secret(bound)
		d.offered(calls, s).begun()
		d.offered(calls+"?model=other", s, part{"session", "", "", `{"type":"realtime","instructions":"Be long."}`}).begun()
	})
	t.Run("one", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.Secrets.SingleUse = keys(t), true })
		s := d.secret(bound)
		d.offered(calls, s, part{"session", "", "", `{"type"`}).refused(http.StatusBadRequest, "invalid_json")
		location := d.offered(calls, s).begun()
		d.offered(calls, s).refused(http.StatusUnauthorized, "client_secret_used")
		w := d.ask(http.MethodPost, location+"/hangup", nil, "Authorization", "Bearer "+s)
		d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK), "it still controls its own call")
	})
	t.Run("with locked fields", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.Secrets.Locks = keys(t), conversation.Locks{"model", "instructions"} })
		s := d.secret(bound)
		d.offered(calls+"?model=other", s).refused(http.StatusBadRequest, "session_locked")
		d.offered(calls, s, part{"session", "", "", `{"type":"realtime","instructions":"Be long."}`}).refused(http.StatusBadRequest, "session_locked")
		d.offered(calls+"?model=house", s, part{"session", "", "", `{"type":"realtime","instructions":"Be brief.","audio":{"output":{"speed":1.2}}}`}).begun()
		d.offered(calls+"?model=other", key, part{"session", "", "", `{"type":"realtime","instructions":"Be long."}`}).begun()
	})
	t.Run("and end no calls of others", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys = keys(t) })
		mine, other := d.secret(`{}`), d.secret(`{}`)
		location := d.offered(calls, mine).begun()
		for _, stranger := range []string{other, "another-key-of-the-house"} {
			w := d.ask(http.MethodPost, location+"/hangup", nil, "Authorization", "Bearer "+stranger)
			d.refused(w, http.StatusNotFound, "call_not_found", "no such call")
		}
		w := d.ask(http.MethodPost, location+"/hangup", nil, withKey...)
		d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK), "the key that created the secret may")
	})
	t.Run("on a server without keys, which checks none", func(t *testing.T) {
		d := open(t, nil)
		d.offered(calls, "ek_of_nobody").begun()
		d.offered(calls, d.secret(bound)).begun()
	})
}

// TestExpiredSecret does not wait: it puts an expired secret into the server's store.
func TestExpiredSecret(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	value, _, _, err := d.h.secrets.Create(t.Context(), secrets.New{Principal: "desk", Session: wire.DefaultSession(), Lifetime: -time.Second, Most: 1})
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.offered("/v1/realtime/calls", value).refused(http.StatusUnauthorized, "client_secret_expired")
	w := d.ask(http.MethodGet, "/v1/antiphon/pipeline", nil, "Authorization", "Bearer "+value)
	d.refused(w, http.StatusUnauthorized, "client_secret_expired", "make a new one")
}

func TestRates(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Rates = keys(t), Rates{RequestsPerMinute: 4} })
	s := d.secret(`{}`)
	d.offered("/v1/realtime/calls", s).begun()
	again := d.offered("/v1/realtime/calls", s)
	again.refused(http.StatusTooManyRequests, "rate_limit_exceeded")
	d.g.Expect(again.Header().Get("Retry-After")).To(gomega.Equal("60"))
	d.offered("/v1/realtime/calls", key).begun()
	d.offered("/v1/realtime/calls", key).begun()
	d.refused(d.ask(http.MethodPost, "/v1/realtime/client_secrets", nil, withKey...), http.StatusTooManyRequests, "rate_limit_exceeded", "15 s")
	d.offered("/v1/realtime/calls", "another-key-of-the-house").begun()
	w := d.ask(http.MethodGet, "/v1/antiphon/pipeline", nil, withKey...)
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK), "a request that begins nothing costs nothing")
}
