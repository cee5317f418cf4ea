// Package rig drives the Talk page in a real Chromium for the browser tests: it starts the browser, gives the page an ear and a
// mouth, and starts the server that the page talks to.
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

// Permission is what becomes of the page's question for the microphone.
type Permission uint8

// The permissions.
const (
	Granted Permission = iota // answered with yes by the browser itself
	Denied                    // answered with no
)

// Options say what kind of browser is started.
type Options struct {
	// Microphone is the absolute path of a WAV file that a fake microphone plays once, from the moment it is opened. Empty: the page
	// has the mouth in place of a microphone, and Tab.Say speaks.
	Microphone string
	Permission Permission
	// Hearing lets Tab.Listen record what a tab puts out. The page has the mouth then: a fake device would silence the recording.
	Hearing bool
	// Trusting takes every certificate: a server signs its own.
	Trusting bool
	// Log gets what the browser itself complains of; nil discards.
	Log func(format string, args ...any)
}

// Browser is one Chromium with a fresh profile. Close it.
type Browser struct {
	ctx    context.Context
	cancel []context.CancelFunc
	mouth  bool
	heard  bool
}

// find gives the path of the browser.
func find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoChromium
}

// flags of every browser here: nothing that reaches out to a network, sound without a click, calls over the loopback.
func flags(o Options) []chromedp.ExecAllocatorOption {
	list := []chromedp.ExecAllocatorOption{
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1440, 900),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"),
		chromedp.Flag("allow-loopback-in-peer-connection", true),
		chromedp.Flag("force-color-profile", "srgb"),
		// A tab that is not in front is still in a call.
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
	case o.Hearing:
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
	b := &Browser{ctx: ctx, cancel: []context.CancelFunc{end, stop}, mouth: o.Permission == Granted && o.Microphone == "", heard: o.Hearing}
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
