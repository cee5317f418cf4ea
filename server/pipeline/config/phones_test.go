package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/sip"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// parsed reads a configuration, and its telephones with these environment variables.
func parsed(t *testing.T, text string, environment map[string]string) (config.PhonesConfig, error) {
	t.Helper()
	f, err := config.Parse("antiphon.yaml", []byte(text), nil)
	if err != nil {
		return config.PhonesConfig{}, err
	}
	return f.PhoneCalls(config.Env{Getenv: func(name string) string { return environment[name] }})
}

func TestPhones(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "secret")
	g.Expect(os.WriteFile(file, []byte(hookSecret+"\n"), 0o600)).To(Succeed())
	c, err := parsed(t, `
phones:
  principal: house
  webhook: {url: "http://127.0.0.1:9000/calls", key_file: `+file+`}
  greets: true
  refer: ["tel:+4930*"]
  first_port: 20000
  last_port: 20099
  quiet: 20s
  trunks:
    - {name: provider, addresses: [203.0.113.0/28, "2001:db8::1"], calls: 5, register: {server: sip.example.org, user: "4930", key_env: BRANCH}}
    - {name: branch, user: branch, key_env: BRANCH}
  numbers:
    - {number: "+4930*", trunk: branch, greeting: "Hello, this is Krume.", session: {instructions: Be kind.}}
    - {number: "*"}
`, map[string]string{"BRANCH": "a good password"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Trunks[0].Networks[1].String()).To(Equal("2001:db8::1/128"))
	g.Expect(c.Trunks[0].Calls).To(Equal(5))
	g.Expect(*c.Trunks[0].Register).To(Equal(sip.Registration{Registrar: "sip.example.org", User: "4930", Password: "a good password"}))
	g.Expect(c.Trunks[1].Register).To(BeNil())
	g.Expect(c.Trunks[1].Password).To(Equal("a good password"))
	g.Expect(string(c.Numbers[0].Session)).To(Equal(`{"instructions":"Be kind."}`))
	g.Expect(c.Numbers[1].Session).To(BeNil())
	g.Expect([]string{*c.Greeting, *c.Numbers[0].Greeting}).To(Equal([]string{"", "Hello, this is Krume."}))
	g.Expect(c.Numbers[1].Greeting).To(BeNil())
	g.Expect(c.Webhook).NotTo(BeNil())
	g.Expect([]any{c.Principal, c.Refer, c.FirstPort, c.LastPort, c.Quiet}).To(Equal([]any{"house", []string{"tel:+4930*"}, uint16(20000), uint16(20099), 20 * time.Second}))

	c, err = parsed(t, "llm: {kind: echo}\n", nil)
	if err == nil {
		g.Expect(c).To(Equal(config.PhonesConfig{}))
	}
}

func TestWrongPhones(t *testing.T) {
	for name, c := range map[string]struct{ text, wrong string }{
		"a password in the file": {"{trunks: [{name: a, user: a, password: x}]}", "a key never stands in the file"},
		"a missing variable":     {"{trunks: [{name: a, user: a, key_env: NONE}]}", "trunks: a: the environment variable NONE"},
		"a user alone":           {"{trunks: [{name: a, user: a}]}", "give user and a password"},
		"nobody":                 {"{trunks: [{name: a}]}", "nobody can call over it"},
		"an address":             {"{trunks: [{name: a, addresses: [example.org]}]}", "neither an address nor a network"},
		"two names":              {"{trunks: [{name: a, addresses: [192.0.2.1]}, {name: a, addresses: [192.0.2.2]}]}", "two trunks have the name a"},
		"an unknown trunk":       {"{numbers: [{number: a, trunk: b}]}", "there is no trunk b"},
		"half a registration":    {"{trunks: [{name: a, addresses: [192.0.2.1], register: {server: a, user: b}}]}", "register: give user and a password"},
		"two greetings":          {"{greets: true, greeting: Hello}", "give one of them"},
		"two of a number":        {"{numbers: [{number: a, greets: true, greeting: Hello}]}", "give one of them"},
		"half a range":           {"{first_port: 20000}", "is no range"},
		"a webhook, no secret":   {"{webhook: {url: http://127.0.0.1/}}", "want whsec_"},
		"a secret, no webhook":   {"{webhook: {key_env: HOOK}}", "url is missing"},
		"a webhook of no kind":   {"{webhook: {url: 'file:///etc', key_env: HOOK}}", "want an address of http"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parsed(t, "phones: "+c.text+"\n", map[string]string{"HOOK": hookSecret})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.wrong)))
		})
	}
}
