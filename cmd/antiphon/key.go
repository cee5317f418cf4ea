package main

// This file has `antiphon key`: it makes API keys.

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/apikey"
)

type key struct {
	Name  string `arg:"" optional:"" placeholder:"NAME" help:"Whose key it is. Keys with one name share rate limits and control each other's calls."`
	Stdin bool   `help:"Take the key from standard input instead of making one, and print the line alone."`
}

// Run prints a new key and the line of the key file for it. Only the holder of the key should keep the key itself.
func (k *key) Run() error { return k.print(os.Stdin, os.Stdout) }

// print reads a key from in if k.Stdin is set, and otherwise makes one. It writes to out.
func (k *key) print(in io.Reader, out io.Writer) error {
	if k.Stdin {
		text, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && text == "" {
			return fmt.Errorf("reading the key from standard input: %w", err)
		}
		line, err := apikey.Line(strings.TrimSpace(text), k.Name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, line)
		return err
	}
	secret, line, err := apikey.New(k.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n", secret, line)
	return err
}
