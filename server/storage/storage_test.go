package storage_test

// A server with a storage, from the outside: requests with an idempotency key count once, also after the server has run again on its data.

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/storage"
)

const secretsPath = "/v1/realtime/client_secrets"

// keyed is a server with a store, and two API keys of two principals.
type keyed struct {
	t          *testing.T
	server     *server.Server
	desk, door string
}

// patience is how long something may take here on a busy machine.
const patience = time.Minute

// withStore runs a server with this storage until close is called.
func withStore(t *testing.T, o storage.Options, rates httpapi.Rates, keys [2]string, file apikey.Keys) (k keyed, closeAll func()) {
	t.Helper()
	g := gomega.NewWithT(t)
	p := scripted.New(scripted.Options{})
	kept, err := storage.Open(t.Context(), o)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, Access: server.Access{Keys: file, Rates: rates}, Stored: kept.Stored})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return keyed{t, s, keys[0], keys[1]}, func() {
		end, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(s.Close(end)).To(gomega.Succeed())
		g.Expect(kept.Close(end)).To(gomega.Succeed())
		g.Expect(p.Close()).To(gomega.Succeed())
	}
}

// twoKeys returns the API keys of two principals, and the key file's content.
func twoKeys(t *testing.T) (keys [2]string, file apikey.Keys) {
	t.Helper()
	g := gomega.NewWithT(t)
	var lines []string
	for i, name := range []string{"desk", "door"} {
		key, line, err := apikey.New(name)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		keys[i], lines = key, append(lines, line)
	}
	file, err := apikey.Read(strings.NewReader(strings.Join(lines, "\n")))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return keys, file
}

// post sends a JSON request with an idempotency key.
func (k keyed) post(bearer, path, once, body string) (status int, header http.Header, text string) {
	r := httptest.NewRequestWithContext(k.t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+bearer)
	if once != "" {
		r.Header.Set("Idempotency-Key", once)
	}
	w := httptest.NewRecorder()
	k.server.ServeHTTP(w, r)
	return w.Code, w.Header(), w.Body.String()
}

// code returns the code of the protocol's error.
func code(t *testing.T, text string) string {
	t.Helper()
	var told struct {
		Error struct{ Code, Message string }
	}
	g := gomega.NewWithT(t)
	g.Expect(json.Unmarshal([]byte(text), &told)).To(gomega.Succeed(), text)
	g.Expect(told.Error.Message).NotTo(gomega.BeEmpty())
	return told.Error.Code
}

func TestServeCountsARequestOnce(t *testing.T) {
	keys, file := twoKeys(t)
	folder := filepath.Join(t.TempDir(), "data")
	for name, o := range map[string]storage.Options{"in memory": {}, "in a folder": {Dir: folder}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			k, closeAll := withStore(t, o, httpapi.Rates{}, keys, file)
			status, _, first := k.post(k.desk, secretsPath, "k", "{}")
			g.Expect(status).To(gomega.Equal(http.StatusOK))
			_, header, again := k.post(k.desk, secretsPath, "k", "{}")
			g.Expect(again).To(gomega.Equal(first))
			g.Expect(header.Get("Idempotency-Replayed")).To(gomega.Equal("true"))
			g.Expect(header.Get("Antiphon-Version")).NotTo(gomega.BeEmpty())

			var made struct{ Value string }
			g.Expect(json.Unmarshal([]byte(first), &made)).To(gomega.Succeed())
			for _, other := range []struct{ bearer, path, once string }{
				{k.door, secretsPath, "k"},
				{k.desk, secretsPath, "k2"},
				{k.desk, secretsPath, ""},
				{k.desk, "/v1/realtime/calls/x/hangup", "k"},
				{made.Value, "/v1/realtime/calls/x/hangup", "k"},
			} {
				_, header, text := k.post(other.bearer, other.path, other.once, "{}")
				g.Expect(header.Get("Idempotency-Replayed")).To(gomega.BeEmpty(), "%+v", other)
				g.Expect(text).NotTo(gomega.Equal(first))
			}
			status, _, text := k.post(k.desk, secretsPath, "k", `{"session":{"type":"realtime"}}`)
			g.Expect(status).To(gomega.Equal(http.StatusUnprocessableEntity))
			g.Expect(code(t, text)).To(gomega.Equal("idempotency_key_reused"))
			status, _, text = k.post(k.desk, secretsPath, "a b", "{}")
			g.Expect(status).To(gomega.Equal(http.StatusBadRequest))
			g.Expect(code(t, text)).To(gomega.Equal("idempotency_key_invalid"))
			status, _, text = k.post("unknown", secretsPath, "k", "{}")
			g.Expect(status).To(gomega.Equal(http.StatusUnauthorized))
			g.Expect(code(t, text)).To(gomega.Equal("invalid_api_key"))
			closeAll()
			if o.Dir == "" {
				return
			}
			k, closeAll = withStore(t, o, httpapi.Rates{}, keys, file)
			_, header, again = k.post(k.desk, secretsPath, "k", "{}")
			g.Expect(again).To(gomega.Equal(first), "the response of the earlier process")
			g.Expect(header.Get("Idempotency-Replayed")).To(gomega.Equal("true"))
			closeAll()
		})
	}
}

// A refusal that asks for another try is no response of the key.
func TestARefusalForNowIsNotKept(t *testing.T) {
	keys, file := twoKeys(t)
	g := gomega.NewWithT(t)
	k, closeAll := withStore(t, storage.Options{}, httpapi.Rates{RequestsPerMinute: 1}, keys, file)
	defer closeAll()
	status, _, _ := k.post(k.desk, secretsPath, "", "{}")
	g.Expect(status).To(gomega.Equal(http.StatusOK))
	status, header, text := k.post(k.desk, secretsPath, "k", "{}")
	g.Expect(status).To(gomega.Equal(http.StatusTooManyRequests))
	g.Expect(code(t, text)).To(gomega.Equal("rate_limit_exceeded"))
	g.Expect(header.Get("Retry-After")).NotTo(gomega.BeEmpty())

	g.Expect(k.server.Reload(httpapi.Rules{Keys: file})).To(gomega.Succeed())
	status, header, _ = k.post(k.desk, secretsPath, "k", "{}")
	g.Expect(status).To(gomega.Equal(http.StatusOK))
	g.Expect(header.Get("Idempotency-Replayed")).To(gomega.BeEmpty())
}

// Speech streams: the first client gets it as it is made, and a further try gets the same bytes.
func TestSpeechCountsOnce(t *testing.T) {
	keys, file := twoKeys(t)
	g := gomega.NewWithT(t)
	k, closeAll := withStore(t, storage.Options{}, httpapi.Rates{}, keys, file)
	defer closeAll()
	const speech = `{"model":"scripted","input":"One. Two.","voice":"alloy","response_format":"pcm"}`
	status, header, first := k.post(k.desk, "/v1/audio/speech", "k", speech)
	g.Expect(status).To(gomega.Equal(http.StatusOK), first)
	g.Expect(first).NotTo(gomega.BeEmpty())
	g.Expect(header.Get("Content-Length")).To(gomega.BeEmpty(), "it came live")
	_, header, again := k.post(k.desk, "/v1/audio/speech", "k", speech)
	g.Expect(again == first).To(gomega.BeTrue())
	g.Expect(header.Get("Idempotency-Replayed")).To(gomega.Equal("true"))
}
