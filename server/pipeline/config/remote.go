package config

// What the kinds of servers have in common: their addresses, the key and the deadlines.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
)

// Remote has the fields of every kind that calls a server. A kind embeds it in its struct of fields.
type Remote struct {
	URL     []string          `yaml:"url" doc:"Base address of the server, such as http://127.0.0.1:11434/v1; a list is tried in its order when one does not answer."`
	Model   string            `yaml:"model" doc:"The model, as the server names it."`
	KeyEnv  string            `yaml:"key_env" doc:"The environment variable that has the key of the server."`
	KeyFile string            `yaml:"key_file" type:"path" doc:"The file that has the key of the server, and nothing else."`
	Headers map[string]string `yaml:"headers" doc:"Further header fields of each request."`
	Timeout Timeout           `yaml:"timeout" doc:"Deadlines of a call."`
}

// Timeout has the deadlines of a call; 0 is the adapter's default.
type Timeout struct {
	Connect   time.Duration `yaml:"connect" min:"10ms" max:"1m" doc:"From the dial to the connection, TLS included."`
	FirstByte time.Duration `yaml:"first_byte" min:"10ms" max:"10m" doc:"From the request to the begin of the answer."`
	Idle      time.Duration `yaml:"idle" min:"10ms" max:"10m" doc:"The longest pause within an answer."`
}

// server returns the configuration of an HTTP client. The adapter sets the stage.
func (r *Remote) server(e Env) (remote.Config, error) {
	key, err := r.Key(e)
	return remote.Config{
		URLs: r.URL, Key: key, Headers: r.Headers, Connect: r.Timeout.Connect, FirstByte: r.Timeout.FirstByte, Idle: r.Timeout.Idle,
	}, err
}

// maxKey is the size of the largest key, in bytes.
const maxKey = 8 << 10

// Key returns the key of the server; "" where the file names none. The error says which variable or file lacks it.
func (r *Remote) Key(e Env) (string, error) {
	switch {
	case r.KeyEnv != "" && r.KeyFile != "":
		return "", errors.New("key_env and key_file are both set: take one out")
	case r.KeyEnv != "":
		getenv := e.Getenv
		if getenv == nil {
			getenv = os.Getenv
		}
		key := strings.TrimSpace(getenv(r.KeyEnv))
		if key == "" {
			return "", fmt.Errorf("the environment variable %s (key_env) is not set: run export %s=… before the server starts", r.KeyEnv, r.KeyEnv)
		}
		return key, nil
	case r.KeyFile != "":
		f, err := os.Open(r.KeyFile)
		if err != nil {
			return "", fmt.Errorf("key_file: %w", err)
		}
		defer func() { _ = f.Close() }() // the file was only read
		text, err := io.ReadAll(io.LimitReader(f, maxKey))
		if err != nil {
			return "", fmt.Errorf("key_file: %w", err)
		}
		if key := strings.TrimSpace(string(text)); key != "" {
			return key, nil
		}
		return "", fmt.Errorf("key_file %s is empty", r.KeyFile)
	}
	return "", nil
}
