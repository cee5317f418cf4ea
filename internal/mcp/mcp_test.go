package mcp

// Real and hostile MCP servers, and what a client may name.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// honest returns a server over HTTP that wants a header, and has the tools ping and say.
func honest(t *testing.T) *httptest.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "honest", Version: "1"}, nil)
	for _, name := range []string{"ping", "say"} {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name + string(r.Params.Arguments)}}}, nil
		})
	}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-of-mine" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// open connects to a server that a client names.
func open(t *testing.T, c Config, url, authorization string) (*Directory, *Server, []Tool, *Error) {
	t.Helper()
	d := New(c)
	tool := wire.Tool{Type: "mcp", Config: wire.Raw(fmt.Sprintf(`{"type":"mcp","server_label":"x","server_url":%q,"authorization":%q}`, url, authorization))}
	gomega.NewWithT(t).Expect(Take(&tool, nil, nil)).To(gomega.BeNil())
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, errTime)
	t.Cleanup(cancel)
	s, tools, err := d.Open(ctx, "me", Read(tool))
	t.Cleanup(s.Close)
	var known *Error
	errors.As(err, &known)
	return d, s, tools, known
}

func TestAnHonestServer(t *testing.T) {
	g, web := gomega.NewWithT(t), honest(t)
	d, s, tools, bad := open(t, Config{Allow: loopback}, web.URL, "token-of-mine")
	g.Expect(bad).To(gomega.BeNil())
	g.Expect(tools).To(gomega.HaveExactElements(gomega.HaveField("Name", "ping"), gomega.HaveField("Name", "say")))
	g.Expect(s.Call(t.Context(), "say", `{"a":1}`)).To(gomega.Equal(`say{"a":1}`))
	_, err := s.Call(t.Context(), "sing", `{}`)
	g.Expect(err).To(gomega.HaveField("Kind", "protocol_error"))
	_, err = s.Call(t.Context(), "say", `[]`)
	g.Expect(err).To(gomega.HaveField("Kind", "tool_execution_error"))
	g.Expect(s.Call(t.Context(), "say", `{"token":"token-of-mine"}`)).To(gomega.Equal(`say{"token":"[secret]"}`), "a server may not show the secret")
	s.Close()
	g.Eventually(d.shares.Free).WithTimeout(5 * time.Second).Should(gomega.Equal(int64(maxConnections)))
}

func TestHostileServers(t *testing.T) {
	for name, row := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"it wants another key": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, "HTTP status 401"},
		"it never answers":     {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, "took too long"},
		"it answers no JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{{{")
		}, "does not speak MCP"},
		"it floods":             {flood("application/json", `{"jsonrpc":"2.0","id":1,"result":"`), "larger than 1 MiB"},
		"it floods with events": {flood("text/event-stream", "data: "), "the connection"},
		"it redirects elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/", http.StatusTemporaryRedirect)
		}, "redirects to another host"},
		"it hangs up": {func(w http.ResponseWriter, _ *http.Request) { c, _, _ := w.(http.Hijacker).Hijack(); _ = c.Close() }, "rejected by transport"},
	} {
		t.Run(name, func(t *testing.T) {
			d, s, _, bad := open(t, Config{Allow: loopback}, serve(t, row.serve).URL, "token-of-mine")
			g := gomega.NewWithT(t)
			g.Expect(s).To(gomega.BeNil())
			g.Expect(bad).To(gomega.MatchError(gomega.ContainSubstring(row.want)))
			g.Eventually(d.shares.Free).WithTimeout(8*time.Second).Should(gomega.Equal(int64(maxConnections)), "nothing of it is left")
		})
	}
}

// flood answers without an end.
func flood(kind, begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, err := io.WriteString(w, begin)
		for err == nil && r.Context().Err() == nil {
			_, err = io.WriteString(w, strings.Repeat("x", 64<<10))
		}
	}
}

func TestAddressesThatAreNotPublic(t *testing.T) {
	g, d := gomega.NewWithT(t), New(Config{})
	for _, a := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "0.0.0.0", "224.0.0.1", "255.255.255.255", "168.63.129.16",
		"::1", "::", "fe80::1", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "::127.0.0.1", "fe80::1%eth0",
		"5f00::1", "100::1", "100:0:0:1::1", "64:ff9b:1::a00:1", "fec0::1", "2001:2::1", "2001:db8::1", "3fff::1",
	} {
		g.Expect(d.permits(netip.MustParseAddr(a))).To(gomega.BeFalse(), a)
	}
	for _, a := range []string{"8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"} {
		g.Expect(d.permits(netip.MustParseAddr(a))).To(gomega.BeTrue(), a)
	}
	g.Expect(New(Config{Allow: loopback}).permits(netip.MustParseAddr("::ffff:127.0.0.1"))).To(gomega.BeTrue())

	for _, host := range []string{"127.0.0.1", "localhost"} { // the second one after DNS
		web := honest(t)
		_, s, _, bad := open(t, Config{}, strings.Replace(web.URL, "127.0.0.1", host, 1), "token-of-mine")
		g.Expect(s).To(gomega.BeNil())
		g.Expect(bad).To(gomega.MatchError(errAddress.Error()))
	}
}

func TestThePrincipalsShare(t *testing.T) {
	g, d := gomega.NewWithT(t), New(Config{Allow: loopback})
	g.Expect(d.shares.Take("me", maxConnections/2)).To(gomega.Succeed())
	_, _, err := d.Open(t.Context(), "me", Definition{URL: "http://127.0.0.1:1"})
	g.Expect(err).To(gomega.MatchError(errShare.Error()))
}

func TestWhatIsRefused(t *testing.T) {
	earlier := []wire.Tool{{Type: "mcp", Config: wire.Raw(`{"type":"mcp","server_label":"old","server_url":"http://old.test","authorization":"abc"}`)}}
	gomega.NewWithT(t).Expect(Take(&earlier[0], nil, nil)).To(gomega.BeNil())
	for config, field := range map[string]string{
		`"server_label":"a"`: "server_url",
		`"server_label":"antiphon","server_url":"http://x"`:                                              "server_label",
		`"server_label":"a b","server_url":"http://x"`:                                                   "server_label",
		`"server_label":"a","server_url":"ftp://x"`:                                                      "server_url",
		`"server_label":"a","server_url":"http://u:p@x"`:                                                 "server_url",
		`"server_label":"own","server_url":"http://x"`:                                                   "server_url",
		`"server_label":"own","headers":{"A":"b"}`:                                                       "server_url",
		`"server_label":"a","connector_id":"connector_gmail"`:                                            "connector_id",
		`"server_label":"a","tunnel_id":"t"`:                                                             "tunnel_id",
		`"server_label":"a","server_url":"http://x","defer_loading":true`:                                "defer_loading",
		`"server_label":"a","server_url":"http://x","authorization":"a","headers":{"authorization":"b"}`: "authorization",
		`"server_label":"a","server_url":"http://x","headers":{"a b":"c"}`:                               "headers",
		`"server_label":"a","server_url":"http://x","headers":{"a":"b\\nc"}`:                             "headers",
		`"server_label":"a","server_url":"http://x","require_approval":"sometimes"`:                      "require_approval",
		`"server_label":"a","server_url":"http://x","allowed_tools":{"names":[]}`:                        "allowed_tools",
		`"server_label":"a","server_url":"http://x","speed":1`:                                           "",
	} {
		t.Run(config, func(t *testing.T) {
			tool := wire.Tool{Type: "mcp", Config: wire.Raw(`{"type":"mcp",` + strings.ReplaceAll(config, `\\n`, `\n`) + `}`)}
			bad := Take(&tool, earlier, Names{"own": true})
			gomega.NewWithT(t).Expect(bad).To(gomega.HaveValue(gomega.HaveField("Field", field)))
		})
	}
	g := gomega.NewWithT(t)
	old := wire.Tool{Type: "mcp", Config: wire.Raw(`{"type":"mcp","server_label":"old"}`)}
	g.Expect(Take(&old, earlier, nil)).To(gomega.BeNil())
	g.Expect(Read(old).Headers).To(gomega.Equal(map[string]string{"Authorization": "Bearer abc"}))
	g.Expect(string(old.Config)).NotTo(gomega.ContainSubstring("abc"))
}

func TestSecretsAreHidden(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, event := range []string{
		`{"type":"session.update","session":{"tools":[{"type":"mcp","authorization":"hunter2","HEADERS":{"A":"hunter2"}}]}}`,
		`{"type":"response.create","response":{"tools":[{"type":"\u006dcp","\u0061uthorization":"hunter2"}]}}`,
		`{"type":"session.update","session":{"tools":[{"type":"mcp","authorization":"hunter2"`,
	} {
		g.Expect(string(Redacted([]byte(event)))).NotTo(gomega.ContainSubstring("hunter2"))
	}
	const plain = `{"type":"conversation.item.create","item":{"text":"mcp tools"}}`
	g.Expect(string(Redacted([]byte(plain)))).To(gomega.Equal(plain))
}

func TestTheOperatorsServers(t *testing.T) {
	g := gomega.NewWithT(t)
	for want, c := range map[string]Named{
		"either url or command": {Name: "a"},
		"want a name":           {Name: "antiphon", URL: "http://x"},
		"at most 10m":           {Name: "a", URL: "http://x", Timeout: time.Hour},
	} {
		g.Expect((&Config{Servers: []Named{c}}).Check()).To(gomega.MatchError(gomega.ContainSubstring(want)))
	}
	web := honest(t)
	d := New(Config{Servers: []Named{
		{Name: "own", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer token-of-mine"}}, {Name: "program", Command: []string{"cat"}},
	}})
	s, tools, err := d.Open(t.Context(), "", Definition{Label: "own"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(tools).To(gomega.HaveLen(2))
	s.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTime)
	defer cancel()
	_, _, err = d.Open(ctx, "", Definition{Label: "program"})
	g.Expect(err).To(gomega.HaveOccurred(), "cat is no MCP server")
	g.Eventually(d.shares.Free).WithTimeout(8*time.Second).Should(gomega.Equal(int64(maxConnections)), "the program has ended")
}
