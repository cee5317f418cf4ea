package setup

// Looking: asks addresses what they are, all of them at the same time.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a look.
const (
	dialWithin   = 500 * time.Millisecond
	answerWithin = 2 * time.Second
	maxAnswer    = 1 << 20 // bytes of one answer
	maxAddresses = 32
)

// Usual returns the addresses on this machine at which servers of models usually are.
func Usual() []string {
	return []string{
		"http://127.0.0.1:11434", // Ollama
		"http://127.0.0.1:8080",  // llama.cpp, LocalAI, whisper.cpp
		"http://127.0.0.1:8000",  // vLLM, speaches
		"http://127.0.0.1:1234",  // LM Studio
		"http://127.0.0.1:4000",  // LiteLLM
		"http://127.0.0.1:8880",  // Kokoro-FastAPI
		"http://127.0.0.1:5000",  // Piper
		"tcp://127.0.0.1:10300",  // Wyoming: recognisers
		"tcp://127.0.0.1:10200",  // Wyoming: synthesizers
	}
}

// Server is a server that answered.
type Server struct {
	Address string // as it was asked for
	Name    string // what it is, with its version where it says it, such as "Ollama 0.9.1"; "" if it was not recognised
	Note    string // why nothing of it can be used, or not yet; "" if something can
	Offers  []Offer
}

// Offer is one way in which a server can do a stage.
type Offer struct {
	Server string // the name of the server, or of what is built in
	Stage  string // config.STT, LLM or TTS
	Kind   string
	URL    string
	Model  string // "": the server has one
	Voice  string // "": the server's default
	KeyEnv string // "": it asks for no key
	Note   string // what the user should know
	rank   int    // lower is better
}

// Look asks each address what it is, and returns the servers that answered, in the order of the addresses. An address is "http://host:port",
// "tcp://host:port" for the Wyoming protocol, or "host:port" for either. A server that asks for a key gets the one in its environment variable,
// if that is set. It takes about two seconds at most.
func Look(ctx context.Context, addresses []string, getenv func(name string) string) ([]Server, error) {
	if len(addresses) > maxAddresses {
		return nil, fmt.Errorf("%d addresses; at most %d are allowed", len(addresses), maxAddresses)
	}
	found := make([]*Server, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		u, err := parse(address)
		if err != nil {
			return nil, err
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, answerWithin)
			defer cancel()
			found[i] = ask(ctx, u, getenv)
		})
	}
	all.Wait()
	var servers []Server
	for i, s := range found {
		if s != nil {
			s.Address = addresses[i]
			servers = append(servers, *s)
		}
	}
	return servers, ctx.Err()
}

// parse returns an address as a URL; its scheme is "" for "host:port".
func parse(address string) (*url.URL, error) {
	text := address
	if !strings.Contains(address, "://") {
		text = "//" + address
	}
	u, err := url.Parse(text)
	if err != nil || u.Port() == "" || u.User != nil || !slices.Contains([]string{"", "http", "https", "tcp"}, u.Scheme) {
		return nil, fmt.Errorf("%q: want an address such as http://127.0.0.1:8000, tcp://127.0.0.1:10300 or 127.0.0.1:8000", address)
	}
	return u, nil
}

// ask returns the server at an address; nil if none answers.
func ask(ctx context.Context, u *url.URL, getenv func(name string) string) *Server {
	dialer := net.Dialer{Timeout: dialWithin}
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil
	}
	if u.Scheme == "tcp" {
		defer func() { _ = conn.Close() }() // it was only read
		return describe(ctx, conn, u)
	}
	_ = conn.Close() // it only showed that somebody listens
	if u.Scheme != "" {
		return look(ctx, u, getenv)
	}
	withScheme := *u
	withScheme.Scheme = "http"
	within, cancel := context.WithTimeout(ctx, answerWithin/2) // the rest is for Wyoming
	defer cancel()
	if s := look(within, &withScheme, getenv); s != nil {
		return s
	}
	withScheme.Scheme = "tcp"
	return ask(ctx, &withScheme, getenv)
}

// look asks a server over HTTP what it is, with its key if it asks for one.
func look(ctx context.Context, u *url.URL, getenv func(name string) string) *Server {
	answers := askHTTP(ctx, u, "")
	if !wantsKey(answers) {
		return identify(u, answers, "", "")
	}
	variable := keyVariable(nameOf(answers), u)
	key := strings.TrimSpace(getenv(variable))
	if key != "" {
		answers = askHTTP(ctx, u, key)
	}
	return identify(u, answers, variable, key)
}

// answer is the answer of a server to one request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// Paths that tell servers of models apart.
const (
	pathRoot         = "/"
	pathModels       = "/v1/models"
	pathOllama       = "/api/version"
	pathOllamaLoaded = "/api/ps"
	pathLlamaCPP     = "/props"
	pathVersion      = "/version"
	pathLMStudio     = "/api/v0/models"
	pathVoices       = "/v1/audio/voices"
	pathPiper        = "/voices"
	pathLiteLLM      = "/health/liveliness" // it asks for no key
)

// askHTTP asks a server for all paths at the same time, and returns its answers by their paths. An empty key is not sent.
func askHTTP(ctx context.Context, u *url.URL, key string) map[string]answer {
	transport := &http.Transport{MaxConnsPerHost: 2, MaxResponseHeaderBytes: 64 << 10} // small servers accept few connections at a time
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answers := map[string]answer{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, path := range []string{pathRoot, pathModels, pathOllama, pathOllamaLoaded, pathLlamaCPP, pathVersion, pathLMStudio, pathVoices, pathPiper, pathLiteLLM} {
		all.Go(func() {
			a, err := get(ctx, client, u.Scheme+"://"+u.Host+path, key)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[path] = a
		})
	}
	all.Wait()
	return answers
}

func get(ctx context.Context, client *http.Client, address, key string) (a answer, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return a, err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	got, err := client.Do(r)
	if err != nil {
		return a, err
	}
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	return answer{status: got.StatusCode, header: got.Header, body: body}, errors.Join(err, got.Body.Close())
}
