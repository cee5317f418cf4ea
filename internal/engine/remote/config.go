package remote

// The settings of a client: the servers of one stage, the key, and the deadlines of a call.

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Defaults of the deadlines in a Config.
const (
	DefaultConnect   = 3 * time.Second
	DefaultFirstByte = 30 * time.Second
	DefaultIdle      = 15 * time.Second
	DefaultRounds    = 2
)

// maxServers is the most servers that a Config may name.
const maxServers = 8

// Config says which servers a Client calls, and how.
type Config struct {
	Stage string // pipeline.StageTranscriber, StageModel or StageSynthesizer: errors name it
	// URLs are the base addresses of the servers, such as "http://127.0.0.1:11434/v1", 1 to 8. A call goes to the first one that
	// answers, and begins with the one that answered last.
	URLs    []string
	Key     string            // the secret of `Authorization: Bearer`; empty for none
	Headers map[string]string // further header fields of each request

	Connect   time.Duration // limit of the connection to one server, TLS included; 0: DefaultConnect
	FirstByte time.Duration // limit from the request to the header of its answer, and from there to the first byte; 0: DefaultFirstByte
	Idle      time.Duration // longest pause within an answer; 0: DefaultIdle
	Rounds    int           // how often a call tries all servers before it fails; 0: DefaultRounds

	// Transport replaces the network, for tests; nil: an http.Transport of the client's own.
	Transport http.RoundTripper
}

// parse returns the base addresses. Its error names the value that is wrong, without secrets.
func (c *Config) parse() ([]*url.URL, error) {
	if len(c.URLs) == 0 {
		return nil, errors.New("url: no address; want one such as http://127.0.0.1:11434/v1")
	}
	if len(c.URLs) > maxServers {
		return nil, fmt.Errorf("url: %d addresses; at most %d are allowed", len(c.URLs), maxServers)
	}
	bases := make([]*url.URL, 0, len(c.URLs))
	for _, text := range c.URLs {
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return nil, errors.New("url: an address cannot be read; want one such as http://127.0.0.1:11434/v1")
		case u.User != nil:
			return nil, fmt.Errorf("url: %s has a name or password in it; give the key by key_env or key_file", address(u))
		case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
			return nil, fmt.Errorf("url: %q is no address of HTTP; want one such as http://127.0.0.1:11434/v1", address(u))
		case u.Fragment != "":
			return nil, fmt.Errorf("url: %s has a #fragment; leave it out", address(u))
		}
		if u.Path == "" {
			u.Path = "/"
		}
		bases = append(bases, u)
	}
	return bases, c.checkHeaders()
}

func (c *Config) checkHeaders() error {
	for name, value := range c.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("headers: %q is no valid header field", name)
		}
	}
	if strings.ContainsAny(c.Key, "\r\n \t") {
		return errors.New("the key has a space or a line break in it; check the variable or the file that has it")
	}
	return nil
}

// address returns a URL as errors and logs may show it: without user, query and fragment.
func address(u *url.URL) string {
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return v.String()
}
