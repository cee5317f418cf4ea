// Package firefox tests a call in Firefox, so that the page's script does not depend on Chromium.
package firefox

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// patience bounds each wait. A busy machine takes more than a minute to start Firefox. Only a failing test takes the whole time.
const patience = 3 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

//go:embed page.html
var page string

// preferences let a page talk and listen without a user, and keep the browser from calling anybody.
var preferences = map[string]string{
	"media.autoplay.default":                     "0",
	"media.autoplay.blocking_policy":             "0",
	"media.autoplay.block-webaudio":              "false",
	"app.update.enabled":                         "false",
	"browser.shell.checkDefaultBrowser":          "false",
	"datareporting.policy.dataSubmissionEnabled": "false",
	"network.captive-portal-service.enabled":     "false",
	"network.connectivity-service.enabled":       "false",
	"browser.startup.homepage_override.mstone":   `"ignore"`,
}

// outcome is the page's report of its call.
type outcome struct {
	Failed     string
	Transcript []struct {
		Role, Text  string
		Interrupted bool
		HeardMs     float64
	}
	Interruptions struct{ Candidates, Confirmed, Ahead int }
	Machines      string
	States        []string
	Errors        []string
	Functions     int
}

// The page hears an interruption before the server's word arrives. On a busy machine the page may wait for a processor for longer than the
// server takes over loopback. So the test makes up to four calls until the page is ahead; all else must hold in each of them.
func TestACallInFirefox(t *testing.T) {
	for _, transport := range []string{"webrtc", "websocket"} {
		t.Run(transport, func(t *testing.T) {
			g := gomega.NewWithT(t)
			ahead := 0
			for try := 0; try < 4 && ahead == 0; try++ {
				got := call(t, g, transport)
				expectWholeCall(g, got)
				ahead = got.Interruptions.Ahead
			}
			g.Expect(ahead).To(gomega.Equal(1), "of the server's word")
		})
	}
}

// TestFirefoxReachesAServerForThisMachine: Firefox connects to no loopback address, and the server that `make talk` starts listens on loopback.
func TestFirefoxReachesAServerForThisMachine(t *testing.T) {
	g := gomega.NewWithT(t)
	server, err := rig.Start("../..", "--pipeline", "scripted", "--listen", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(server.Kill)
	expectWholeCall(g, visit(t, g, strings.ReplaceAll(page, "SERVER", server.URL), "?transport=webrtc", browse))
}

// expectWholeCall checks the report of a call in which one answer was interrupted.
func expectWholeCall(g *gomega.WithT, got outcome) {
	g.Expect(got.Failed).To(gomega.BeEmpty())
	g.Expect(got.Errors).To(gomega.BeEmpty())
	g.Expect(got.Machines).To(gomega.Equal("same"), "the machines are the server's")
	g.Expect(got.States).To(gomega.ContainElements("listening", "thinking", "agent-speaking", "user-speaking"))
	g.Expect(got.Interruptions.Confirmed).To(gomega.Equal(1))
	g.Expect(got.Transcript).To(gomega.HaveLen(4))
	long, last := got.Transcript[1], got.Transcript[3]
	g.Expect(long.Interrupted).To(gomega.BeTrue())
	g.Expect(long.HeardMs).To(gomega.BeNumerically(">", 200))
	g.Expect(last.Interrupted).To(gomega.BeFalse())
	g.Expect(last.Text).NotTo(gomega.BeEmpty())
	g.Expect(got.Functions).To(gomega.BeZero(), "functions that the page could still call back")
}

//go:embed offer.html
var offerPage string

// TestOffersOfBrowsers checks that calls connect whose offers have an unusual shape: the data section inside of the bundle only, a video
// section first, or a data channel with a name of its own.
func TestOffersOfBrowsers(t *testing.T) {
	const maxBundle, videoFirst, both = "bundle=max-bundle&label=oai-events", "bundle=balanced&label=own&video", "bundle=max-bundle&label=own&video"
	for _, browser := range []struct {
		name    string
		browse  func(t *testing.T, g *gomega.WithT, address string)
		queries []string
	}{
		{"Firefox", browse, []string{maxBundle, videoFirst, both}},
		{"Chromium", browseChromium, []string{maxBundle, videoFirst, both}},
	} {
		for _, query := range browser.queries {
			t.Run(browser.name+" "+query, func(t *testing.T) {
				g := gomega.NewWithT(t)
				got := visit(t, g, offerPage, "?"+query, browser.browse)
				g.Expect(got.Failed).To(gomega.BeEmpty())
				g.Expect(got.States).To(gomega.Equal([]string{"session.created"}))
				t.Log(got.Machines)
			})
		}
	}
}

// call opens the page in a new browser and returns its report.
func call(t *testing.T, g *gomega.WithT, transport string) outcome {
	t.Helper()
	return visit(t, g, page, "?transport="+transport, browse)
}

// visit opens a page with a query in a new browser and returns the report of the page.
func visit(t *testing.T, g *gomega.WithT, page, query string, browse func(*testing.T, *gomega.WithT, string)) outcome {
	t.Helper()
	// The speech has no pause. In a pause the server rejects a candidate.
	speech, err := rig.Speak(t.Context(), "stop it right there and listen to me now")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	done := make(chan outcome, 1)
	site := rig.NewSite(t, func(w http.ResponseWriter, r *http.Request, server string) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(strings.ReplaceAll(page, "SERVER", server))) // writing fails when the browser is gone
		case "/speech.wav":
			_, _ = w.Write(speech.WAV())
		case "/done":
			var told outcome
			if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
				told.Failed = err.Error()
			}
			select {
			case done <- told:
			default: // the page has reported already
			}
		default:
			http.NotFound(w, r)
		}
	})
	browse(t, g, site.URL+"/"+query)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case told := <-done:
		return told
	case <-ctx.Done():
		return outcome{Failed: "the page tells nothing"}
	}
}

// browse opens a page in a new Firefox without a window and without a sound device.
func browse(t *testing.T, g *gomega.WithT, address string) {
	t.Helper()
	dir := t.TempDir()
	var user strings.Builder
	for name, value := range preferences {
		user.WriteString(`user_pref("` + name + `", ` + value + ");\n")
	}
	g.Expect(os.WriteFile(filepath.Join(dir, "user.js"), []byte(user.String()), 0o600)).To(gomega.Succeed())
	socket := filepath.Join(dir, "sound")
	env := append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir, "PULSE_SERVER=unix:"+socket)
	start(t, g, env, "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
		"-L", "module-native-protocol-unix auth-anonymous=1 socket="+socket, "-L", "module-null-sink")
	g.Eventually(func() error { _, err := os.Stat(socket); return err }).WithTimeout(patience).Should(gomega.Succeed())
	start(t, g, env, "firefox-esr", "--headless", "--no-remote", "--profile", dir, address)
}

// browseChromium opens a page in a Chromium of its own, without a window.
func browseChromium(t *testing.T, g *gomega.WithT, address string) {
	t.Helper()
	start(t, g, os.Environ(), "chromium", "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--autoplay-policy=no-user-gesture-required", "--disable-features=WebRtcHideLocalIpsWithMdns,LocalNetworkAccessChecks", address)
}

// start runs a program until the test ends, and then kills it with all processes that it has started.
func start(t *testing.T, g *gomega.WithT, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	g.Expect(cmd.Start()).To(gomega.Succeed(), "scripts/setup.sh test installs %s", name)
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
	})
}
