package main

// Describes the machine and the versions that the figures were measured with.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine on which the figures were measured.
func machine(ctx context.Context) []string {
	return []string{
		fmt.Sprintf("- machine: %s, %d processors, load %s at the beginning", processor(), runtime.NumCPU(), load()),
		fmt.Sprintf("- system: %s; %s; %s", system(), output(ctx, "chromium", "--version"), runtime.Version()),
		fmt.Sprintf("- commit: %s, %s", output(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12"), time.Now().UTC().Format(time.DateOnly)),
	}
}

// output returns what a program prints, on one line.
func output(ctx context.Context, name string, args ...string) string {
	text, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return name + ": unknown"
	}
	return strings.TrimSpace(string(text))
}

// field returns the first value with this name in one of the system's files.
func field(path, name, between string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if left, right, ok := strings.Cut(line, between); ok && strings.TrimSpace(left) == name {
			return strings.Trim(strings.TrimSpace(right), `"`)
		}
	}
	return "unknown"
}

func processor() string { return field("/proc/cpuinfo", "model name", ":") }

func system() string { return field("/etc/os-release", "PRETTY_NAME", "=") + " " + runtime.GOARCH }

// load returns the machine's load average of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
