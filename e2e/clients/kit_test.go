package clients

// The helpers of these tests: programs that use a client, the steps of a suite, and the tally of passed steps.

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

const (
	root = "../.."
	// installed is where scripts/clients.sh puts the packages.
	installed = root + "/.cache/clients"
	python    = installed + "/python"
	// patience bounds a wait in real time. A busy machine may be slow; only a failure takes the whole time.
	patience = 40 * time.Second
	glance   = 50 * time.Millisecond
	// key is the API key of the servers in these tests.
	key = "sk-of-a-test-of-ours"
)

// TestMain copies the programs next to the installed packages, where Node finds them. At the end it prints the steps of the clients.
func TestMain(m *testing.M) {
	// Clients mostly wait, so many at a time take no longer than one.
	err := flag.Set("test.parallel", "16")
	if err == nil {
		err = prepare()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := passed.print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func prepare() error {
	for _, packages := range []string{installed + "/node_modules", python} {
		if _, err := os.Stat(packages); err != nil {
			return fmt.Errorf("%w: run scripts/clients.sh first", err)
		}
	}
	to := installed + "/programs"
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS("programs"))
}

// client is a program that uses one client. It answers one call at a time.
type client interface {
	// ask calls a method and returns its result as JSON.
	ask(method string, args any) (json.RawMessage, error)
}

type args map[string]any

// suite runs the steps of one client.
type suite struct {
	*gomega.WithT
	client
	t    *testing.T
	name string
}

func newSuite(t *testing.T, name string, c client) *suite {
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(glance)
	passed.begin(name)
	return &suite{WithT: g, client: c, t: t, name: name}
}

// step runs one action of an application and counts it when it has passed.
func (s *suite) step(what string, do func()) {
	s.t.Helper()
	s.t.Log(what)
	passed.intend(s.name)
	do()
	passed.pass(s.name)
}

// tell calls a method and ignores its result.
func (s *suite) tell(method string, a any) {
	s.t.Helper()
	_, err := s.ask(method, a)
	s.Expect(err).NotTo(gomega.HaveOccurred())
}

// asked calls a method and returns its result.
func asked[T any](c client, method string, a any) (T, error) {
	var result T
	raw, err := c.ask(method, a)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("%s gives %s: %w", method, raw, err)
	}
	return result, nil
}

// tones returns sound that the scripted recogniser understands, as PCM of 24 kHz in base64.
func tones(text string) string {
	pcm, err := binary.Append(nil, binary.LittleEndian, scripted.Tones(text))
	if err != nil {
		panic(err) // encoding samples never fails
	}
	return base64.StdEncoding.EncodeToString(pcm)
}

// tally counts the steps of each client.
type tally struct {
	mu    sync.Mutex
	names []string
	done  map[string]int
	begun map[string]int
}

var passed = tally{done: map[string]int{}, begun: map[string]int{}}

func (c *tally) begin(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = append(c.names, name)
}

func (c *tally) intend(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun[name]++
}

func (c *tally) pass(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[name]++
}

// stepsFile names the environment variable with a file for the steps that were passed; scripts/e2e.sh prints it.
const stepsFile = "ANTIPHON_CLIENT_STEPS"

func (c *tally) print() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := ""
	slices.Sort(c.names)
	c.names = slices.Compact(c.names) // a suite may run several times
	for _, name := range c.names {
		text += fmt.Sprintf("%-52s %2d of %2d steps\n", name, c.done[name], c.begun[name])
	}
	fmt.Print(text)
	if path := os.Getenv(stepsFile); path != "" {
		return os.WriteFile(path, []byte(text), 0o600)
	}
	return nil
}
