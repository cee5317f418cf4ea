package main

// What all rows share: the servers, the site, the browsers and the spoken phrases.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// house has what all rows share: servers, the page, and the spoken phrases. Close it.
type house struct {
	ctx  context.Context
	root string // the repository's folder
	site *site
	dir  string // the folder for files of the run

	scripted, embedded *rig.Program // started when they are needed
}

// script answers an interruption with one short sound, so that the next round begins soon.
const script = `
model:
  replies:
    - when: {contains: speech of}
      say: "yes."
`

func open(ctx context.Context) (*house, error) {
	others, err := pack(othersJS, installed)
	if err != nil {
		return nil, err
	}
	agents, err := pack(stockJS, installed)
	if err != nil {
		return nil, err
	}
	h := &house{ctx: ctx, root: "."}
	if h.dir, err = os.MkdirTemp("", "bargein"); err != nil {
		return nil, err
	}
	if h.site, err = newSite(map[string][]byte{
		"/page.js": append([]byte(pageJS), others...), "/start/page.js": []byte(startJS), "/start/agents.js": agents,
	}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(h.dir))
	}
	return h, nil
}

func (h *house) close() error {
	err := h.site.close()
	for _, p := range []*rig.Program{h.scripted, h.embedded} {
		if p != nil {
			err = errors.Join(err, p.Stop())
		}
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}

// tones returns the URL of the server whose agent speaks in tones, without a pause.
func (h *house) tones() (string, error) {
	if h.scripted == nil {
		path := filepath.Join(h.dir, "script.yaml")
		if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
			return "", err
		}
		var err error
		if h.scripted, err = h.start(path); err != nil {
			return "", err
		}
	}
	return h.scripted.URL, nil
}

// speech returns the URL of the server that recognises and speaks words.
func (h *house) speech() (string, error) {
	if h.embedded == nil {
		var err error
		if h.embedded, err = h.start("embedded"); err != nil {
			return "", err
		}
	}
	return h.embedded.URL, nil
}

func (h *house) start(pipeline string) (*rig.Program, error) {
	p, err := rig.Start(h.root, "--pipeline", pipeline, "--listen", "127.0.0.1:0", "--origin", "*", "--log-level", "error")
	if err != nil {
		return nil, fmt.Errorf("the server with the pipeline %s: %w", pipeline, err)
	}
	return p, nil
}
