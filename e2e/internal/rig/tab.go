package rig

// One tab of the browser: reads the page, presses its controls, speaks into its microphone and records its sound.

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed received.js
var receivedJS string

//go:embed microphone.js
var microphoneJS string

//go:embed look.js
var lookJS string

// Patience bounds one request to the browser. A busy browser answers long before.
const Patience = 30 * time.Second

// Line is one line of the page's transcript.
type Line struct {
	Role, Item, Said, Coming, Cut, Note string
	Interrupted, Live                   bool
}

// Component is one part of the pipeline as the page lists it.
type Component struct{ Stage, State, Text, Install string }

// View is everything that the page shows at one moment; the fields are named in web/doc.go.
type View struct {
	Phase, State, Hint, Caption, Talk      string
	TextOnly, Muted, CanMute, CanInterrupt bool
	Mic, Latency                           int
	Problem, ProblemText, Remedy, Pipeline string
	Lines                                  []Line
	Components                             []Component
}

func (v View) Of(role string) []Line {
	return slices.DeleteFunc(slices.Clone(v.Lines), func(l Line) bool { return l.Role != role })
}

// Tab is the Talk page in one tab. It is safe for use by one goroutine at a time.
type Tab struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // the console's reader has ended

	mu      sync.Mutex
	console []string
}

// Open loads a page in a new tab. The tab closes with the browser, or with Close.
func (b *Browser) Open(url string) (*Tab, error) {
	ctx, cancel := chromedp.NewContext(b.ctx)
	t := &Tab{ctx: ctx, cancel: cancel, done: make(chan struct{})}
	messages := chromedp.Console(ctx)
	go func() {
		defer close(t.done)
		for m, err := range messages {
			if err != nil {
				return
			}
			t.noted(m)
		}
	}()
	listener := receivedJS
	if b.heard {
		listener = outputJS
	}
	err := t.do(t.prepare(listener))
	if err == nil && b.microphone {
		err = t.do(t.prepare(microphoneJS))
	}
	if err == nil {
		err = t.do(chromedp.Navigate(url))
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("opening %s: %w", url, err)
	}
	return t, nil
}

func (t *Tab) Close() {
	t.cancel()
	<-t.done
}

// prepare runs a script in every document of the tab before the document's own.
func (t *Tab) prepare(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

func (t *Tab) noted(m chromedp.ConsoleMessage) {
	switch m.Type {
	case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.console = append(t.console, fmt.Sprintf("%s: %s (%s)", m.Type, m.Text, m.URL))
	default: // other messages are harmless
	}
}

// Complaints returns the errors and warnings of the page's console, and what its Content-Security-Policy has refused.
func (t *Tab) Complaints() ([]string, error) {
	heard, err := t.Heard()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(slices.Clone(t.console), heard.Violations...), nil
}

// do runs actions within Patience.
func (t *Tab) do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	if chromedp.FromContext(t.ctx).Target == nil {
		ctx = t.ctx // the first action needs the tab's own context
	}
	return chromedp.Do(ctx, actions...)
}

// run runs one action that has a result, within Patience.
func run[T any](t *Tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, Patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

func (t *Tab) View() (View, error) { return run(t, chromedp.Evaluate[View](lookJS)) }

// Heard is a summary of the agent's sound that the page has received so far.
type Heard struct {
	LoudMS     float64 // how much sound was above -44 dBFS
	SinceMS    float64 // the time since the first such sound; -1 when there was none
	QuietMS    float64 // the time since the last such sound; -1 when there was none
	Frames     int
	Violations []string
}

// Heard returns a summary of the agent's sound that the page has received.
func (t *Tab) Heard() (Heard, error) { return run(t, chromedp.Evaluate[Heard](`testReceived.now()`)) }

// Energy returns the connection's own measure of the agent's sound (totalAudioEnergy of the call's statistics): the integral of the
// squared level, in seconds.
func (t *Tab) Energy() (float64, error) {
	return run(t, chromedp.Evaluate[float64](`testReceived.energy()`, chromedp.EvalAwaitPromise))
}

// Recording returns all of the agent's sound that the page has received.
func (t *Tab) Recording() (*Recording, error) {
	all, err := run(t, chromedp.Evaluate[raw](`testReceived.all()`))
	if err != nil {
		return nil, err
	}
	return all.decode()
}

// Say plays a WAV file into the page's microphone and returns the time, on the clock of Recording, at which its first sample
// goes in.
func (t *Tab) Say(wav []byte) (atMS float64, err error) {
	call := fmt.Sprintf("say(%q)", base64.StdEncoding.EncodeToString(wav))
	return run(t, chromedp.Evaluate[float64](call, chromedp.EvalAwaitPromise))
}

// Evaluate runs a script of the test's own in the page.
func Evaluate[T any](t *Tab, script string) (T, error) { return run(t, chromedp.Evaluate[T](script)) }

// Await runs a script whose value is a promise, and returns the promise's result.
func Await[T any](t *Tab, script string) (T, error) {
	return run(t, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// Press clicks an element with the mouse.
func (t *Tab) Press(selector string) error {
	return t.do(chromedp.Click(chromedp.CSS(selector)))
}

// Write types a text into the field and sends it with Enter.
func (t *Tab) Write(text string) error {
	return t.do(chromedp.SendKeys(chromedp.CSS("#text"), text+kb.Enter))
}

// Key presses a key, wherever the focus is.
func (t *Tab) Key(key string) error { return t.do(chromedp.KeyEvent(key)) }

// Click presses the mouse at a place in the window, in CSS pixels.
func (t *Tab) Click(x, y float64) error { return t.do(chromedp.MouseClickXY(x, y)) }

// Type presses one key after the other, wherever the focus is.
func (t *Tab) Type(keys string) error { return t.do(chromedp.KeyEvent(keys)) }

// Look gives the page a size in CSS pixels and a colour scheme, "light" or "dark".
func (t *Tab) Look(width, height int64, scheme string) error {
	return t.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// Screenshot returns the visible page as PNG.
func (t *Tab) Screenshot() ([]byte, error) { return run(t, chromedp.CaptureScreenshot()) }

// Controls returns the role and name of each control that a screen reader finds.
func (t *Tab) Controls() ([]string, error) {
	return run(t, func(ctx context.Context, target *chromedp.Target) ([]string, error) {
		tree, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return nil, err
		}
		return controls(tree.Nodes), nil
	})
}

// controls returns the role and the name of every node that can be operated.
func controls(nodes []*accessibility.Node) []string {
	operable := map[string]bool{
		"button": true, "textbox": true, "combobox": true, "meter": true, "link": true, "checkbox": true, "switch": true, "listbox": true,
	}
	var found []string
	for _, n := range nodes {
		if role := valueOf(n.Role); !n.Ignored && operable[role] {
			found = append(found, role+" "+valueOf(n.Name))
		}
	}
	return found
}

func valueOf(v *accessibility.Value) string {
	var text string
	if v != nil {
		_ = json.Unmarshal(v.Value, &text) // a value that is no string gives an empty text
	}
	return text
}

// Heap returns how many bytes of its heap the page uses after a garbage collection.
func (t *Tab) Heap() (float64, error) {
	return run(t, func(ctx context.Context, target *chromedp.Target) (float64, error) {
		if _, err := cdp.Call(ctx, target, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return 0, err
		}
		used, err := cdp.Call(ctx, target, runtime.GetHeapUsage, cdp.Empty{})
		return used.UsedSize, err
	})
}

// Uninstallable returns why the browser cannot install the page as an app; empty if it can.
func (t *Tab) Uninstallable() ([]string, error) {
	return run(t, func(ctx context.Context, target *chromedp.Target) (reasons []string, err error) {
		found, err := cdp.Call(ctx, target, page.GetInstallabilityErrors, cdp.Empty{})
		for _, e := range found.InstallabilityErrors {
			reasons = append(reasons, e.ErrorID)
		}
		return reasons, err
	})
}
