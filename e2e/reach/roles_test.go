package reach

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/oneport"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
)

// The roles in which the test program runs: the server and the client of a call, each in a namespace.

const (
	roleVariable = "ANTIPHON_REACH_ROLE"
	jobVariable  = "ANTIPHON_REACH_JOB"
	// patience bounds each wait. Only a failing test reaches it.
	patience = time.Minute
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "server":
		end(serveCalls(job[serverJob]()))
	case "client":
		end(talk(job[clientJob]()))
	case "image":
		end(runImage(job[imageJob]()))
	case "list":
		os.Exit(m.Run())
	case "tests":
		if out, err := exec.Command("sh", "-euc", layout).CombinedOutput(); err != nil {
			end(fmt.Errorf("%w: %s (scripts/setup.sh test installs what is missing)", err, out))
		}
		os.Exit(m.Run())
	default:
		inside()
	}
}

// end ends the program with the error of its role.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "reach:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func job[T any]() (j T) {
	if err := json.Unmarshal([]byte(os.Getenv(jobVariable)), &j); err != nil {
		end(err)
	}
	return j
}

// serverJob says how a server runs.
type serverJob struct {
	Listen, ICETCP, Turn string
	Public               []string
	ICEURLs              []string
	Secret               string
	OnePort              bool // ICE over TCP and TURN are on the port of Listen, with HTTPS
}

// serveCalls serves calls until the program is told to end.
func serveCalls(j serverJob) error {
	cfg := server.Config{Pipeline: scripted.New(scripted.Options{}), Page: http.HandlerFunc(servePage), Reach: server.Reach{UDPPort: 7000, Turn: j.Turn}}
	if os.Getenv("ANTIPHON_REACH_DEBUG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	cfg.ICE.URLs, cfg.ICE.Secret = j.ICEURLs, j.Secret
	for _, a := range j.Public {
		cfg.PublicAddresses = append(cfg.PublicAddresses, netip.MustParseAddr(a))
	}
	if j.ICETCP != "" {
		l, err := net.Listen("tcp", j.ICETCP)
		if err != nil {
			return err
		}
		cfg.ICETCP = l
	}
	l, err := net.Listen("tcp", j.Listen)
	if err != nil {
		return err
	}
	if j.OnePort {
		cert, err := certificate("203.0.113.10")
		if err != nil {
			return err
		}
		port := oneport.Share(l, oneport.Config{
			TLS: &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}, ICE: true, TURN: true,
		})
		l, cfg.ICETCP, cfg.Turn, cfg.TurnTCP, cfg.TurnTLS = port.HTTP, port.ICE, j.Listen, port.TURN, true
	}
	s, err := server.New(cfg)
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s, ReadHeaderTimeout: patience}
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { _ = web.Serve(l) }()
	fmt.Println("serving")
	<-ended.Done()
	_ = web.Close()
	return s.Close(context.Background())
}

//go:embed page.html
var page []byte

// servePage serves the page, and prints what the page tells.
func servePage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/done" {
		_, _ = w.Write(page) // the browser may be gone
		return
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, 1000)) // what came of it is printed
	fmt.Println("page:", string(text))
}

// clientJob says how a client calls. With Speaks it speaks its lines, as the scripted recogniser understands them; else it writes them.
// Answer is what the agent answers to each line; empty: the answer of the scripted pipeline, whose sound the client reads. With Once it does
// not call again when no data come through.
type clientJob struct {
	URL, Key, Answer string
	Speaks, Once     bool
}

// talk places a call. For each line of its input it asks for an answer. Once the text of the answer is there and nothing sounds any more, it
// prints whether it has heard the answer.
func talk(j clientJob) error {
	var mic native.Microphone
	speaker := native.NewSpeaker(time.Minute)
	dialer, err := native.NewDialer(native.Options{URL: j.URL, Key: j.Key, Microphone: &mic, Speaker: speaker})
	if err != nil {
		return err
	}
	s, err := sdk.New(sdk.Options{Dialer: dialer})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	err = s.Connect(ctx)
	if errors.Is(err, sdk.ErrServerSilent) && !j.Once {
		fmt.Fprintln(os.Stderr, "reach: calls once more:", err) // a machine with much other work may need longer than Limits.Connect
		err = s.Connect(ctx)
	}
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	lost := false
	s.Subscribe(func(now sdk.Snapshot) {
		if back := lost && now.State.OnCall(); back {
			fmt.Println("back")
		}
		lost = now.State == sdk.Reconnecting
		select {
		case changed <- struct{}{}:
		default: // the reader looks anyway
		}
	})
	fmt.Println("connected")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		before := len(speaker.Recording())
		_, sounded := speaker.Sounded()
		if j.Speaks {
			_, err = mic.Speak(scripted.Tones(lines.Text()))
		} else {
			err = s.SendText(lines.Text())
		}
		if err != nil {
			return err
		}
		for !answered(s.Snapshot(), lines.Text(), cmp.Or(j.Answer, "You said: "+lines.Text())) {
			select {
			case <-changed:
			case <-ctx.Done():
				return fmt.Errorf("no answer to %q; %+v", lines.Text(), s.Snapshot().Transcript)
			}
		}
		if err := speaker.AwaitSilence(ctx, 400*time.Millisecond); err != nil {
			return err
		}
		if j.Answer != "" {
			_, now := speaker.Sounded()
			fmt.Println("heard", now-sounded > 500*time.Millisecond)
			continue
		}
		heard, err := scripted.Heard(speaker.RecordingFrom(before))
		if err != nil {
			return err
		}
		fmt.Println("heard", strings.Contains(heard, lines.Text()))
	}
	return s.Close(ctx)
}

// answered reports whether the transcript ends with what the user said and this answer of the agent.
func answered(now sdk.Snapshot, said, answer string) bool {
	n := len(now.Transcript)
	if n < 2 || now.State != sdk.Listening {
		return false
	}
	user, agent := now.Transcript[n-2], now.Transcript[n-1]
	return user.Role == sdk.User && user.Text == said && agent.Role == sdk.Agent && !agent.Live && agent.Text == answer
}

// actor is a program in a namespace whose output the test reads.
type actor struct {
	g     *gomega.WithT
	stdin interface {
		Write([]byte) (int, error)
		Close() error
	}
	lines chan string
}

// start starts the test program in a role in a namespace, and ends it with the test.
func start(t *testing.T, g *gomega.WithT, namespace, role string, job any) *actor {
	t.Helper()
	text, err := json.Marshal(job)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cmd := exec.Command("ip", "netns", "exec", namespace, os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, jobVariable+"="+string(text))
	return begin(t, g, cmd)
}

// begin starts a program, and ends it with the test.
func begin(t *testing.T, g *gomega.WithT, cmd *exec.Cmd) *actor {
	t.Helper()
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	stdout, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cmd.Start()).To(gomega.Succeed())
	a := &actor{g: g, stdin: stdin, lines: make(chan string, 100)}
	go func() {
		defer close(a.lines)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			select {
			case a.lines <- lines.Text():
			default: // nobody reads them
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return a
}

// says waits until the program prints a line.
func (a *actor) says(line string) {
	a.g.Eventually(a.lines, patience).Should(gomega.Receive(gomega.Equal(line)))
}

// ask has a client send a text, and waits until it has heard the answer.
func (a *actor) ask(text string) {
	a.write(text)
	a.says("heard true")
}

// write has a client send a text.
func (a *actor) write(text string) {
	_, err := fmt.Fprintln(a.stdin, text)
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
}

// ends waits until the program ends, and checks that it has not printed the line before.
func (a *actor) ends(without string) {
	for {
		var line string
		select {
		case l, more := <-a.lines:
			if !more {
				return
			}
			line = l
		case <-time.After(patience):
			a.g.Expect("running").To(gomega.Equal("ended"))
		}
		a.g.Expect(line).NotTo(gomega.Equal(without))
	}
}
