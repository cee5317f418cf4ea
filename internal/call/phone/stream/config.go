package stream

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio signs with it
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Which telephones may connect, and how they show who they are.

// Kind is a kind of telephone.
type Kind string

// The kinds.
const (
	Asterisk Kind = "asterisk"
	Twilio   Kind = "twilio"
	Telnyx   Kind = "telnyx"
)

func (k Kind) dialect() dialect {
	switch k {
	case Twilio, Telnyx:
		return &provider{telnyx: k == Telnyx}
	case Asterisk:
	}
	return &asterisk{}
}

// Protocol is the WebSocket subprotocol that the kind offers, if it offers one.
func (k Kind) Protocol() string { return "media" }

// Config is a door for telephones of one kind.
type Config struct {
	// Name is the last part of the door's path.
	Name string
	Kind Kind
	// Key is a secret that telephones show: as the last part of the path, or as the password of HTTP's basic authentication.
	Key string
	// AuthToken is that of the Twilio account: Twilio signs its requests with it. URL is the address in the account's configuration, over
	// which Twilio signs.
	AuthToken, URL string
	// Principal has the calls: its API keys control them.
	Principal string
	// Greeting is what the agent says first: see phone.Link.Greets.
	Greeting *string
	// Calls is how many calls the door has at a time; 0 takes 30.
	Calls int
	// Session is merged into the settings of the server: a session object, or nil.
	Session json.RawMessage
}

// minKey is the least length of a key.
const minKey = 16

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// Check returns what is wrong with the doors of a server.
func Check(all []Config) error {
	seen := map[string]bool{}
	for i := range all {
		c := &all[i]
		if err := c.check(); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if seen[c.Name] {
			return fmt.Errorf("%s: two streams have this name", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

func (c *Config) check() error {
	switch {
	case !names.MatchString(c.Name):
		return errors.New("a name has small letters, digits and hyphens: it is a part of the path")
	case !slices.Contains([]Kind{Asterisk, Twilio, Telnyx}, c.Kind):
		return fmt.Errorf("kind %q: want asterisk, twilio or telnyx", c.Kind)
	case c.AuthToken != "" && c.Kind != Twilio:
		return errors.New("only Twilio has an auth_token")
	case c.AuthToken != "" && !strings.HasPrefix(c.URL, "wss://"):
		return errors.New("with auth_token, url is needed: the wss:// address in the <Stream> element, over which Twilio signs")
	case c.AuthToken == "" && c.Key == "":
		return errors.New("a key is needed: otherwise everybody may call")
	case c.Key != "" && len(c.Key) < minKey:
		return fmt.Errorf("the key has fewer than %d characters", minKey)
	case c.Calls < 0:
		return errors.New("calls is below 0")
	}
	return nil
}

// Admits reports whether a request shows what the door asks for: all of it. shown is the last part of the path, or "".
func (c *Config) Admits(r *http.Request, shown string) bool {
	if c.AuthToken != "" && !c.signed(r) {
		return false
	}
	if c.Key == "" {
		return true
	}
	if _, password, ok := r.BasicAuth(); ok && shown == "" {
		shown = password
	}
	return subtle.ConstantTimeCompare([]byte(shown), []byte(c.Key)) == 1
}

// signed reports whether Twilio has signed the request: HMAC-SHA1 of the address. Twilio is known to sign it with a slash at its end, too.
func (c *Config) signed(r *http.Request) bool {
	shown, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Twilio-Signature"))
	if err != nil {
		return false
	}
	for _, url := range []string{c.URL, strings.TrimSuffix(c.URL, "/") + "/"} {
		h := hmac.New(sha1.New, []byte(c.AuthToken))
		h.Write([]byte(url))
		if hmac.Equal(shown, h.Sum(nil)) {
			return true
		}
	}
	return false
}
