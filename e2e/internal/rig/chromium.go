// Package rig drives the Talk page in a real Chromium for the browser tests: it starts the browser, records the sound
// that the page receives, gives the page a fake microphone, and starts the server that the page talks to.
package rig

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/chromedp/chromedp"
)

// ErrNoChromium says that there is no browser to test with, and how to get one.
var ErrNoChromium = errors.New("the browser tests need Chromium: sudo apt-get install chromium fonts-dejavu-core")

// Permission is the answer to the page's question for the microphone.
type Permission uint8

// The permissions.
const (
	Granted Permission = iota // answered with yes by the browser itself
	Denied                    // answered with no
)

// Options say what kind of browser is started.
type Options struct {
	// Microphone is the absolute path of a WAV file that a fake microphone plays once, from the moment it is opened. Empty: the page
	// has the fake microphone of microphone.js, into which Tab.Say speaks.
	Microphone string
	Permission Permission
	// RecordOutput lets Tab.Listen record the sound that a tab plays. The page has the fake microphone of microphone.js then, because
	// a fake device would silence the recording.
	RecordOutput bool
	// Trusting accepts every certificate, such as one that the server has signed itself.
	Trusting bool
	// Log gets the complaints of the browser itself; nil discards them.
	Log func(format string, args ...any)
}

// Browser is one Chromium with a fresh profile. Close it.
type Browser struct {
	ctx        context.Context
	cancel     []context.CancelFunc
	microphone bool
	heard      bool
}

func find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoChromium
}

// flags returns the flags of every browser: no connections to other machines, sound without a click, calls over the loopback device.
func flags(o Options) []chromedp.ExecAllocatorOption {
	list := []chromedp.ExecAllocatorOption{
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1440, 900),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
		chromedp.Flag("allow-loopback-in-peer-connection", true),
		chromedp.Flag("force-color-profile", "srgb"),
		// A tab in the background is still in a call.
		chromedp.Flag("disable-background-timer-throttling", true),
		chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true),
	}
	for _, name := range []string{
		"disable-background-networking", "disable-breakpad", "disable-component-update", "disable-default-apps", "disable-dev-shm-usage",
		"disable-extensions", "disable-quic", "disable-sync", "metrics-recording-only", "mute-audio",
	} {
		list = append(list, chromedp.Flag(name, name != "mute-audio"))
	}
	list = append(list, chromedp.Flag("ignore-certificate-errors", o.Trusting))
	switch {
	case o.RecordOutput:
		list = append(list, chromedp.Flag("auto-accept-this-tab-capture", true))
	case o.Permission == Denied:
		list = append(list, chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("deny-permission-prompts", true))
	case o.Microphone != "":
		list = append(list, chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true),
			chromedp.Flag("use-file-for-fake-audio-capture", o.Microphone+"%noloop"))
	}
	return list
}

// Launch starts a browser. ctx bounds its whole life.
func Launch(ctx context.Context, o Options) (*Browser, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	var said strings.Builder
	ctx, stop := chromedp.NewExecAllocator(ctx, append(flags(o), chromedp.ExecPath(path), chromedp.CombinedOutput(&said))...)
	ctx, end := chromedp.NewContext(ctx, chromedp.WithErrorf(o.Log), chromedp.WithLogf(o.Log))
	b := &Browser{ctx: ctx, cancel: []context.CancelFunc{end, stop}, microphone: o.Permission == Granted && o.Microphone == "", heard: o.RecordOutput}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w\n%s", path, err, said.String())
	}
	return b, nil
}

// Close ends the browser and all its tabs and joins everything.
func (b *Browser) Close() {
	for _, cancel := range b.cancel {
		cancel()
	}
}
