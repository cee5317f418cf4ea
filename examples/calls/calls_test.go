// Package calls plays the calls of this folder.
package calls

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// stages returns a pipeline with the built-in assistant, and scripted speech: tones that have the text.
func stages(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	f, err := config.Parse("antiphon.yaml", []byte("stt: {kind: scripted}\ntts: {kind: scripted}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Pipeline(t.Context(), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// play plays files against a server of their own.
func play(t *testing.T, files ...string) {
	t.Helper()
	voice, err := server.New(server.Config{Pipeline: stages(t), Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer voice.Close(context.Background())
	sdktest.Calls(t, voice, files...)
}

// TestCalls plays the calls in virtual time. The other ones need a real recogniser: antiphon test plays them, and so does e2e/calls_test.go.
func TestCalls(t *testing.T) {
	all, err := filepath.Glob("*.yaml")
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains([]string{"acknowledgement.yaml", "bad-line.yaml", "recording.yaml"}, name)
	})
	synctest.Test(t, func(t *testing.T) { play(t, all...) })
}

// TestTenMinutes plays a long call in virtual time.
func TestTenMinutes(t *testing.T) {
	var call strings.Builder
	call.WriteString("call:\n")
	for i := range 45 {
		fmt.Fprintf(&call, "- say: What is %d plus %d?\n- answer: {says: [is], within: 3s}\n- silence: 10s\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(file, []byte(call.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		play(t, file)
		if took := time.Since(began); took < 10*time.Minute {
			t.Fatalf("the call took %v", took)
		}
	})
}
