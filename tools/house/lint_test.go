package house

// Each rule of the linter about imports finds a violation.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

const ours = "github.com/antiphon-rt/antiphon/"

// A lintCase is one file in a module laid out like this one, and the rule that
// must refuse it (or "" when it must be let through). A file that ends in
// _js.go exists only for js/wasm; all others are judged on both platforms.
type lintCase struct {
	file, imports, refused string
}

// Rows are named by who imports whom.
var lintCases = []lintCase{
	{"coord/turn/std.go", "slices", ""},
	{"coord/turn/machine.go", ours + "coord/machine", ""},
	{"coord/turn/fmt_test.go", "fmt", ""},
	{"coord/turn/coordtest_test.go", ours + "internal/coordtest", ""},
	{"coord/turn/gomega_test.go", "github.com/onsi/gomega", ""},
	{"coord/turn/fmt.go", "fmt", "pure"},
	{"coord/turn/json.go", "encoding/json", "pure"},
	{"coord/turn/reflect.go", "reflect", "pure"},
	{"coord/turn/time.go", "time", "pure"},
	{"coord/turn/rand.go", "math/rand", "pure"},
	{"coord/turn/randv2.go", "math/rand/v2", "pure"},
	{"coord/turn/sync.go", "sync", "pure"},
	{"coord/turn/atomic.go", "sync/atomic", "pure"},
	{"coord/turn/os.go", "os", "pure"},
	{"coord/turn/net.go", "net", "pure"},
	{"coord/turn/http.go", "net/http", "pure"},
	{"coord/turn/context.go", "context", "pure"},
	{"coord/turn/kong.go", "github.com/alecthomas/kong", "pure"},
	{"coord/turn/sibling.go", ours + "coord/response", "coord-machines"},
	{"coord/turn/session.go", ours + "coord/session", "coord-machines"},
	{"coord/turn/coordtest.go", ours + "internal/coordtest", "coord-machines"},
	{"coord/turn/wire.go", ours + "wire", "coord"},
	{"coord/turn/wire_test.go", ours + "wire", "coord"},
	{"coord/session/turn.go", ours + "coord/turn", ""},
	{"coord/session/response.go", ours + "coord/response", ""},
	{"coord/session/wire.go", ours + "wire", "coord"},
	{"coord/session/coordtest.go", ours + "internal/coordtest", "test-only"},
	{"coord/view/session.go", ours + "coord/session", ""},
	{"coord/machine/turn.go", ours + "coord/turn", "coord-foundation"},
	{"internal/coordtest/fmt.go", "fmt", ""},
	{"internal/coordtest/gomega.go", "github.com/onsi/gomega", ""},
	{"internal/coordtest/server.go", ours + "server", "coord"},
	{"wire/base64.go", "encoding/base64", ""},
	{"wire/internal/gen/fmt.go", "fmt", ""},
	{"wire/internal/gen/server.go", ours + "server", "wire"},
	{"wire/fmt.go", "fmt", "pure"},
	{"wire/time.go", "time", "pure"},
	{"wire/coord.go", ours + "coord/machine", "wire"},
	{"wire/coord_test.go", ours + "coord/machine", "wire"},
	{"internal/voice/math.go", "math", ""},
	{"internal/voice/rand.go", "math/rand", "pure"},
	{"internal/voice/json.go", "encoding/json", "pure"},
	{"internal/voice/wire.go", ours + "wire", "voice"},
	{"server/wire.go", ours + "wire", ""},
	{"server/sdk.go", ours + "sdk", "server"},
	{"server/desktop.go", ours + "internal/desktop", "server-client"},
	{"internal/engine/llm/sdk.go", ours + "sdk", "server"},
	{"internal/coord/run/journal.go", ours + "internal/coord/journal", "coord-machines"},
	{"internal/coord/run/fmt.go", "fmt", "pure"},
	{"internal/desktop/server.go", ours + "server", "sdk"},
	{"server/sdk_test.go", ours + "sdk", "server"},
	{"server/web.go", ours + "web", "server"},
	{"internal/call/session/check_test.go", ours + "internal/protocolcheck", ""},
	{"internal/call/session/protocolcheck.go", ours + "internal/protocolcheck", "test-only"},
	{"internal/call/session/browser_test.go", ours + "e2e/browser", "server"},
	{"internal/call/session/servertest.go", ours + "internal/servertest", "test-only"},
	{"internal/call/session/servertest_test.go", ours + "internal/servertest", ""},
	{"server/gomega.go", "github.com/onsi/gomega", "test-only"},
	{"server/pion.go", "github.com/pion/webrtc/v4", "pion"},
	{"internal/call/rtc/pion.go", "github.com/pion/webrtc/v4", ""},
	{"internal/call/rtc/link.go", ours + "internal/call/link", ""},
	{"internal/call/rtc/session.go", ours + "internal/call/session", "transports"},
	{"internal/call/rtc/session_test.go", ours + "internal/call/session", "transports"},
	{"internal/call/rtc/ws.go", ours + "internal/call/ws", "transports"},
	{"internal/call/phone/session.go", ours + "internal/call/session", "transports"},
	{"internal/call/phone/outgoing.go", ours + "internal/call/outgoing", ""},
	{"internal/call/ws/link.go", ours + "internal/call/link", ""},
	{"internal/call/ws/session.go", ours + "internal/call/session", "transports"},
	{"internal/call/ws/pion.go", "github.com/pion/webrtc/v4", "pion"},
	{"internal/call/link/coord.go", ours + "coord/conn", ""},
	{"internal/call/link/wire.go", ours + "wire", ""},
	{"internal/call/link/voice.go", ours + "internal/voice", ""},
	{"internal/call/link/env.go", ours + "internal/env", ""},
	{"internal/call/link/rtc.go", ours + "internal/call/rtc", "server-call"},
	{"internal/call/link/session_test.go", ours + "internal/call/session", "server-call"},
	{"internal/call/link/pion.go", "github.com/pion/webrtc/v4", "pion"},
	{"internal/call/session/link.go", ours + "internal/call/link", ""},
	{"internal/call/session/rtc.go", ours + "internal/call/rtc", "session"},
	{"internal/call/session/rtc_test.go", ours + "internal/call/rtc", "session"},
	{"internal/call/session/ws.go", ours + "internal/call/ws", "session"},
	{"internal/call/session/signal.go", ours + "internal/httpapi", "session"},
	{"internal/call/listening/rtc.go", ours + "internal/call/rtc", "session"},
	{"internal/httpapi/rtc.go", ours + "internal/call/rtc", ""},
	{"internal/call/conversation/room.go", ours + "internal/call/room", ""},
	{"internal/call/conversation/ratelimit.go", ours + "internal/call/ratelimit", ""},
	{"internal/call/conversation/watchdog.go", ours + "internal/call/watchdog", ""},
	{"internal/call/listening/conversation.go", ours + "internal/call/conversation", ""},
	{"internal/call/listening/link.go", ours + "internal/call/link", ""},
	{"internal/call/listening/room.go", ours + "internal/call/room", ""},
	{"internal/call/listening/watchdog.go", ours + "internal/call/watchdog", ""},
	{"internal/call/speaking/conversation.go", ours + "internal/call/conversation", ""},
	{"internal/call/speaking/link.go", ours + "internal/call/link", ""},
	{"internal/call/speaking/ratelimit.go", ours + "internal/call/ratelimit", ""},
	{"internal/call/speaking/room.go", ours + "internal/call/room", ""},
	{"internal/call/runs/conversation.go", ours + "internal/call/conversation", ""},
	{"internal/call/runs/room.go", ours + "internal/call/room", ""},
	{"internal/call/runs/speaking.go", ours + "internal/call/speaking", ""},
	{"internal/call/remote/speaking.go", ours + "internal/call/speaking", ""},
	{"internal/call/remote/mcp.go", ours + "internal/mcp", ""},
	{"internal/call/listening/mcp.go", ours + "internal/mcp", "session-listening"},
	{"internal/call/survival/conversation.go", ours + "internal/call/conversation", ""},
	{"internal/call/survival/link.go", ours + "internal/call/link", ""},
	{"internal/call/survival/room.go", ours + "internal/call/room", ""},
	{"internal/call/survival/runs.go", ours + "internal/call/runs", ""},
	{"internal/call/survival/speaking.go", ours + "internal/call/speaking", ""},
	{"internal/call/session/conversation.go", ours + "internal/call/conversation", ""},
	{"internal/call/session/listening.go", ours + "internal/call/listening", ""},
	{"internal/call/session/speaking.go", ours + "internal/call/speaking", ""},
	{"internal/call/session/runs.go", ours + "internal/call/runs", ""},
	{"internal/call/session/survival.go", ours + "internal/call/survival", ""},
	{"internal/call/conversation/coord.go", ours + "coord/session", ""},
	{"internal/call/conversation/env.go", ours + "internal/env", ""},
	{"internal/call/conversation/pipeline.go", ours + "server/pipeline", ""},
	{"internal/call/conversation/scripted_test.go", ours + "internal/engine/scripted", ""},
	{"internal/call/conversation/journal.go", ours + "internal/journal", ""},
	{"internal/call/listening/coord.go", ours + "coord/turn", ""},
	{"internal/call/listening/scripted_test.go", ours + "internal/engine/scripted", ""},
	{"internal/call/ratelimit/wire.go", ours + "wire", ""},
	{"internal/call/conversation/listening.go", ours + "internal/call/listening", "session-conversation"},
	{"internal/call/conversation/speaking.go", ours + "internal/call/speaking", "session-conversation"},
	{"internal/call/conversation/link.go", ours + "internal/call/link", "session-conversation"},
	{"internal/call/conversation/session.go", ours + "internal/call/session", "session-conversation"},
	{"internal/call/conversation/runs.go", ours + "internal/call/runs", "session-conversation"},
	{"internal/call/listening/speaking.go", ours + "internal/call/speaking", "session-listening"},
	{"internal/call/listening/runs.go", ours + "internal/call/runs", "session-listening"},
	{"internal/call/listening/survival.go", ours + "internal/call/survival", "session-listening"},
	{"internal/call/listening/session.go", ours + "internal/call/session", "session-listening"},
	{"internal/call/speaking/listening.go", ours + "internal/call/listening", "session-speaking"},
	{"internal/call/speaking/runs.go", ours + "internal/call/runs", "session-speaking"},
	{"internal/call/speaking/survival.go", ours + "internal/call/survival", "session-speaking"},
	{"internal/call/speaking/session.go", ours + "internal/call/session", "session-speaking"},
	{"internal/call/runs/listening.go", ours + "internal/call/listening", "session-runs"},
	{"internal/call/runs/survival.go", ours + "internal/call/survival", "session-runs"},
	{"internal/call/runs/session.go", ours + "internal/call/session", "session-runs"},
	{"internal/call/survival/listening.go", ours + "internal/call/listening", "session-survival"},
	{"internal/call/survival/session.go", ours + "internal/call/session", "session-survival"},
	{"internal/call/listening/session_test.go", ours + "internal/call/session", "session-listening"},
	{"internal/call/speaking/session_test.go", ours + "internal/call/session", "session-speaking"},
	{"internal/call/room/conversation.go", ours + "internal/call/conversation", "session-shared"},
	{"internal/call/room/listening.go", ours + "internal/call/listening", "session-shared"},
	{"internal/call/room/session.go", ours + "internal/call/session", "session-shared"},
	{"internal/call/ratelimit/conversation.go", ours + "internal/call/conversation", "session-shared"},
	{"internal/call/watchdog/speaking.go", ours + "internal/call/speaking", "session-shared"},
	{"internal/call/conversation/rtc.go", ours + "internal/call/rtc", "session"},
	{"internal/call/speaking/rtc.go", ours + "internal/call/rtc", "session"},
	{"internal/call/session/nats.go", "github.com/nats-io/nats.go", "nats"},
	{"internal/store/nats.go", "github.com/nats-io/nats.go", ""},
	{"e2e/deploy/nats_test.go", "github.com/nats-io/nats.go", ""},
	{"e2e/nats_test.go", "github.com/nats-io/nats.go", "nats"},
	{"internal/once/nats.go", "github.com/nats-io/nats.go", "nats"},
	{"internal/once/store.go", ours + "internal/store", ""},
	{"internal/httpapi/store.go", ours + "internal/store", "store"},
	{"internal/httpapi/once.go", ours + "internal/once", "store"},
	{"internal/runs/nats.go", "github.com/nats-io/nats.go", "nats"},
	{"internal/runs/store.go", ours + "internal/store", ""},
	{"internal/httpapi/runs.go", ours + "internal/runs", "store"},
	{"internal/cluster/store.go", ours + "internal/store", ""},
	{"internal/httpapi/cluster.go", ours + "internal/cluster", "store"},
	{"internal/call/session/runs.go", ours + "internal/runs", "store"},
	{"cmd/antiphon/once.go", ours + "internal/once", ""},
	{"server/storage/store.go", ours + "internal/store", ""},
	{"server/storage/nats.go", "github.com/nats-io/nats.go", "nats"},
	{"server/storage.go", ours + "server/storage", "store"},
	{"sdk/coord.go", ours + "coord/session", ""},
	{"sdk/server.go", ours + "server", "sdk"},
	{"sdk/internal/runs/server.go", ours + "server", "sdk"},
	{"sdk/internal/runs/tools.go", ours + "sdk/internal/tools", "sdk-rooms"},
	{"sdk/internal/runs/tools_test.go", ours + "sdk/internal/tools", "sdk-rooms"},
	{"sdk/internal/runs/words.go", ours + "sdk/internal/words", ""},
	{"sdk/server_test.go", ours + "internal/call/rtc", "sdk"},
	{"sdk/pion.go", "github.com/pion/webrtc/v4", "pion"},
	{"sdk/native/pion.go", "github.com/pion/webrtc/v4", ""},
	{"sdk/page_js.go", "syscall/js", "syscall-js"},
	{"sdk/browser/page_js.go", "syscall/js", ""},
	{"internal/httpapi/page_js.go", "syscall/js", "syscall-js"},
	{"wasm/main_js.go", "syscall/js", ""},
	{"wasm/server_js.go", ours + "server", "page"},
	{"web/page_js.go", "syscall/js", ""},
	{"web/sdk.go", ours + "sdk", ""},
	{"web/server.go", ours + "server", "page"},
	{"cmd/antiphon/server.go", ours + "server", ""},
	{"cmd/antiphon/web.go", ours + "web", ""},
	{"cmd/antiphon/pion.go", "github.com/pion/webrtc/v4", "pion"},
	{"e2e/browser.go", "github.com/chromedp/chromedp", ""},
	{"formal-verification/coordtest.go", ours + "internal/coordtest", ""},
	{"e2e/pion.go", "github.com/pion/webrtc/v4", "pion"},
}

// stubs are the third parties of that module: empty packages, so that the rules are judged
// without the network and without compiling anything.
var stubs = []string{
	"github.com/alecthomas/kong",
	"github.com/chromedp/chromedp",
	"github.com/nats-io/nats.go",
	"github.com/onsi/gomega",
	"github.com/pion/webrtc/v4",
}

func TestImportRulesBite(t *testing.T) {
	house := importHouse(t)
	for _, platform := range []struct{ name, goos, goarch string }{
		{"native", "", ""},
		{"js/wasm", "js", "wasm"},
	} {
		t.Run(platform.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			said := runLinter(t, house, "depguard", platform.goos, platform.goarch)
			for i, c := range lintCases {
				if strings.HasSuffix(c.file, "_js.go") && platform.goos != "js" {
					continue
				}
				want := gomega.BeEmpty()
				if c.refused != "" {
					want = gomega.ContainElement(gomega.ContainSubstring("from list '" + c.refused + "'"))
				}
				g.Expect(said[caseFile(i, c)]).To(want, "%s imports %s", c.file, c.imports)
			}
		})
	}
}

// lintHouse lays out an empty module of the repository's name under its
// linter configuration.
func lintHouse(t *testing.T, requires string) string {
	t.Helper()
	// depguard compares absolute paths: those of the linter have their links resolved.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	writeFile(t, dir, ".golangci.yml", string(read(t, ".golangci.yml")))
	writeFile(t, dir, "go.mod", "module "+strings.TrimSuffix(ours, "/")+"\n\ngo 1.26\n"+requires)
	return dir
}

// importHouse is a module with one package a case.
func importHouse(t *testing.T) string {
	t.Helper()
	var requires strings.Builder
	for _, path := range stubs {
		version := "v0.0.0"
		if strings.HasSuffix(path, "/v4") {
			version = "v4.0.0"
		}
		requires.WriteString("require " + path + " " + version + "\nreplace " + path + " => ./stubs/" + path + "\n")
	}
	dir := lintHouse(t, requires.String())
	for _, path := range stubs {
		writeFile(t, dir, "stubs/"+path+"/go.mod", "module "+path+"\n\ngo 1.26\n")
		writeFile(t, dir, "stubs/"+path+"/stub.go", "package stub\n")
	}
	for i, c := range lintCases {
		file := caseFile(i, c)
		writeFile(t, dir, file, "package house\n\nimport _ \""+c.imports+"\"\n")
		writeFile(t, dir, filepath.Dir(file)+"/doc.go", "package house\n")
		if path, ok := strings.CutPrefix(c.imports, ours); ok {
			writeFile(t, dir, path+"/doc.go", "package house\n")
		}
	}
	return dir
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	g := gomega.NewWithT(t)
	full := filepath.Join(dir, name)
	g.Expect(os.MkdirAll(filepath.Dir(full), 0o755)).To(gomega.Succeed())
	g.Expect(os.WriteFile(full, []byte(text), 0o644)).To(gomega.Succeed())
}

// caseFile is where the i-th case lies: in a package of its own below the
// case's folder, so that no two cases make an import cycle.
func caseFile(i int, c lintCase) string {
	return filepath.Join(filepath.Dir(c.file), "case"+strconv.Itoa(i), filepath.Base(c.file))
}

// runLinter returns what one linter said about each file.
func runLinter(t *testing.T, dir, name, goos, goarch string) map[string][]string {
	t.Helper()
	g := gomega.NewWithT(t)
	linter, err := filepath.Abs(filepath.Join(root, ".cache", "bin", "golangci-lint"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(linter).To(gomega.BeAnExistingFile(), "build it with: make lint-tool")
	cmd := exec.CommandContext(t.Context(), linter, "run", "--enable-only", name,
		"--issues-exit-code", "0", "--output.json.path", "stdout", "--show-stats=false", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOOS="+goos, "GOARCH="+goarch,
		// The linter's cache does not tell platforms apart.
		"GOLANGCI_LINT_CACHE="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))

	var report struct {
		Issues []struct {
			FromLinter, Text string
			Pos              struct{ Filename string }
		}
	}
	g.Expect(json.Unmarshal(out, &report)).To(gomega.Succeed(), string(out))
	said := map[string][]string{}
	for _, issue := range report.Issues {
		g.Expect(issue.FromLinter).To(gomega.Equal(name), issue.Pos.Filename+": "+issue.Text)
		said[issue.Pos.Filename] = append(said[issue.Pos.Filename], issue.Text)
	}
	return said
}

// Calls that the linter refuses, or lets through (""), by the folder that
// they stand in.
var callCases = []struct{ file, imports, body, refused string }{
	{"coord/turn/clock_test.go", "time", "var _ = time.Now()", "takes time as data"},
	{"wire/timer_test.go", "time", "var _ = time.After(1)", "takes time as data"},
	{"internal/voice/since_test.go", "time", "var _ = time.Since(time.Time{})", "takes time as data"},
	{"server/clock.go", "time", "var _ = time.Now()", ""},
	{"server/sleep.go", "time", "func f() { time.Sleep(1) }", "wait for the fact"},
	{"e2e/sleep_test.go", "time", "func f() { time.Sleep(1) }", "wait for the fact"},
	{"sdk/now.go", "time", "var _ = time.Now()", "takes it from outside"},
	{"sdk/since.go", "time", "var _ = time.Since(time.Time{})", "takes it from outside"},
	{"sdk/timer.go", "time", "var _ = time.NewTimer(1)", "takes it from outside"},
	{"sdk/tick.go", "time", "var _ = time.Tick(1)", "takes it from outside"},
	{"sdk/after.go", "time", "var _ = time.AfterFunc(1, nil)", "takes it from outside"},
	{"sdk/timeout.go", "context", "var _, _ = context.WithTimeout(nil, 1)", "takes it from outside"},
	{"sdk/rand.go", "math/rand", "var _ = rand.Int()", "takes it from outside"},
	{"sdk/randv2.go", "math/rand/v2", "var _ = rand.N(2)", "takes it from outside"},
	{"sdk/crypto.go", "crypto/rand", "var _ = rand.Text()", "takes it from outside"},
	{"sdk/group.go", "sync", "func f(w *sync.WaitGroup) { w.Go(nil) }", "takes it from outside"},
	{"sdk/internal/runs/now.go", "time", "var _ = time.Now()", "takes it from outside"},
	{"sdk/internal/runs/now_test.go", "time", "var _ = time.Now()", ""},
	{"sdk/now_test.go", "time", "var _ = time.Now()", ""},
	{"sdk/native/now.go", "time", "var _ = time.Now()", ""},
	{"sdk/internal/system/now.go", "time", "var _ = time.Now()", ""},
	{"sdk/skip_test.go", "testing", "func TestX(t *testing.T) { t.Skip() }", "a skipped test hides"},
	{"sdk/skipf_test.go", "testing", "func FuzzX(f *testing.F) { f.Skipf(\"\") }", "a skipped test hides"},
}

func TestForbiddenCallsBite(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := lintHouse(t, "")
	for _, c := range callCases {
		writeFile(t, dir, c.file, "package house\n\nimport \""+c.imports+"\"\n\n"+c.body+"\n")
	}
	said := runLinter(t, dir, "forbidigo", "", "")
	for _, c := range callCases {
		want := gomega.BeEmpty()
		if c.refused != "" {
			want = gomega.ConsistOf(gomega.ContainSubstring(c.refused))
		}
		g.Expect(said[c.file]).To(want, "%s: %s", c.file, c.body)
	}
}
