package server_test

// The console of calls: who may read it, and that calls come into it and out of it.

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
)

const (
	tenantsKey   = "key-of-the-kitchen"
	operatorsKey = "key-of-the-night-desk"
)

func keysOf(g *gomega.WithT, text string) server.Keys {
	keys, err := apikey.Read(strings.NewReader(text))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return keys
}

// asks returns the answer to a request with a key.
func (h *host) asks(path, key string) answer { return h.get(path, "Authorization", "Bearer "+key) }

const consolesCalls = "/v1/antiphon/console/calls"

func TestOnlyOperatorsReadTheConsole(t *testing.T) {
	story(t, "an API key and a client secret do not open it, and an operator's key begins no call", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
			c.Keys, c.Operators = keysOf(gomega.NewWithT(t), tenantsKey), keysOf(gomega.NewWithT(t), operatorsKey)
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server.test/v1/realtime/client_secrets", strings.NewReader("{}"))
		h.g.Expect(err).NotTo(gomega.HaveOccurred())
		r.Header.Set("Authorization", "Bearer "+tenantsKey)
		r.Header.Set("Content-Type", "application/json")
		made, err := h.web.Do(r)
		h.g.Expect(err).NotTo(gomega.HaveOccurred())
		var secret struct{ Value string }
		h.g.Expect(json.NewDecoder(made.Body).Decode(&secret)).To(gomega.Succeed())
		h.g.Expect(made.Body.Close()).To(gomega.Succeed())
		h.g.Expect(secret.Value).NotTo(gomega.BeEmpty())
		for _, key := range []string{tenantsKey, secret.Value} {
			a := h.asks(consolesCalls, key)
			h.g.Expect(a.status).To(gomega.Equal(http.StatusUnauthorized))
			h.g.Expect(a.body).To(gomega.ContainSubstring("invalid_operator_key"))
		}
		h.g.Expect(h.asks(consolesCalls, operatorsKey).status).To(gomega.Equal(http.StatusOK))
		h.g.Expect(h.asks("/v1/antiphon/pipeline", operatorsKey).status).To(gomega.Equal(http.StatusUnauthorized))

		both := server.Rules{Keys: keysOf(h.g, tenantsKey+"\n"+operatorsKey), Operators: keysOf(h.g, operatorsKey)}
		h.g.Expect(h.server.Reload(both)).To(gomega.MatchError(gomega.ContainSubstring("is also an API key")))
		h.g.Expect(h.server.Reload(server.Rules{Keys: keysOf(h.g, tenantsKey), Operators: keysOf(h.g, "another-key-of-the-desk")})).To(gomega.Succeed())
		h.g.Expect(h.asks(consolesCalls, operatorsKey).status).To(gomega.Equal(http.StatusUnauthorized))
	})
	story(t, "there is none without operators", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), nil)
		h.g.Expect(h.asks(consolesCalls, operatorsKey).status).To(gomega.Equal(http.StatusNotFound))
	})
	p := scripted.New(scripted.Options{})
	_, err := server.New(server.Config{Pipeline: p, Access: server.Access{Keys: keysOf(gomega.NewWithT(t), tenantsKey)}, Watch: server.Watch{Operators: keysOf(gomega.NewWithT(t), tenantsKey)}})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("is also an API key")))
	gomega.NewWithT(t).Expect(p.Close()).To(gomega.Succeed())
}

func TestACallIsInTheConsole(t *testing.T) {
	story(t, "while it goes on, and when it has ended", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.Operators = keysOf(gomega.NewWithT(t), operatorsKey) })
		shows := func() string { return h.asks(consolesCalls, operatorsKey).body }
		c := h.dial()
		conversation(c)
		h.g.Eventually(shows).Should(gomega.And(
			gomega.ContainSubstring(`"transport":"WebSocket"`), gomega.ContainSubstring(`"name":"response"`), gomega.ContainSubstring(`"failed":1`), gomega.Not(gomega.ContainSubstring(`"ended":`)),
		))
		h.g.Expect(c.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
		h.g.Eventually(shows).Should(gomega.And(gomega.ContainSubstring(`"ended":`), gomega.ContainSubstring(`"reason":"ByClient"`)))
	})
}

// An operator opens a logbook in the console. It shows the transitions, and no words and no other files.
func TestLogbooksInTheConsole(t *testing.T) {
	story(t, "as transitions without words", func(t *testing.T) {
		outside, folder := t.TempDir(), t.TempDir()
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
			c.Operators, c.Logbooks = keysOf(gomega.NewWithT(t), operatorsKey), folder
		})
		for _, path := range []string{filepath.Join(outside, "secret.logbook"), filepath.Join(folder, "garbage.logbook"), filepath.Join(folder, "notes.txt")} {
			h.g.Expect(os.WriteFile(path, []byte("no logbook"), 0o600)).To(gomega.Succeed())
		}
		h.g.Expect(os.Symlink(filepath.Join(outside, "secret.logbook"), filepath.Join(folder, "link.logbook"))).To(gomega.Succeed())
		c := h.dial()
		conversation(c)
		h.g.Expect(c.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
		const path = "/v1/antiphon/console/logbooks"
		var names []string
		h.g.Expect(json.Unmarshal([]byte(h.asks(path, operatorsKey).body), &names)).To(gomega.Succeed())
		h.g.Expect(names).To(gomega.HaveLen(2))
		h.g.Expect(names[1]).To(gomega.Equal("garbage.logbook"), "it has no number")
		h.g.Eventually(func() string { return h.asks(path+"/"+names[0], operatorsKey).body }).Should(gomega.And(
			gomega.ContainSubstring(`"end":"the session ended"`), gomega.ContainSubstring(`"machine":"turn","from":"Idle"`), gomega.ContainSubstring("response.done"),
			gomega.Not(gomega.ContainSubstring("60 words")), gomega.Not(gomega.ContainSubstring("stop it")), gomega.Not(gomega.ContainSubstring("four")),
		))
		h.g.Expect(h.asks(path+"/"+names[0], tenantsKey).status).To(gomega.Equal(http.StatusUnauthorized))
		h.g.Expect(h.asks(path+"/garbage.logbook", operatorsKey).status).To(gomega.Equal(http.StatusUnprocessableEntity))
		for _, name := range []string{"none.logbook", "notes.txt", "link.logbook", "..%2F" + filepath.Base(outside) + "%2Fsecret.logbook"} {
			h.g.Expect(h.asks(path+"/"+name, operatorsKey).status).To(gomega.Equal(http.StatusNotFound), name)
		}
	})
	story(t, "there are none without a folder", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.Operators = keysOf(gomega.NewWithT(t), operatorsKey) })
		for _, path := range []string{"logbooks", "logbooks/x.logbook"} {
			h.g.Expect(h.asks("/v1/antiphon/console/"+path, operatorsKey).status).To(gomega.Equal(http.StatusNotFound))
		}
	})
}
