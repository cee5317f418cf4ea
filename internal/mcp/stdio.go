package mcp

// This file starts the program of a server of the operator.

import (
	"context"
	"os"
	"os/exec"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// overStdio starts the program of a server and returns the transport to it. The program ends with ctx: it is asked to by the end of its input, and is killed after that.
func overStdio(ctx context.Context, n Named) (sdk.Transport, error) {
	cmd := exec.CommandContext(ctx, n.Command[0], n.Command[1:]...) //nolint:gosec // the operator's own command
	for _, name := range []string{"PATH", "HOME", "LANG"} {
		if value, has := os.LookupEnv(name); has {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, n.Env...)
	cmd.WaitDelay = closeTime
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { _ = cmd.Wait() }() // how it ends does not matter
	return &sdk.IOTransport{Reader: out, Writer: in, MaxLineLength: maxAnswer}, nil
}
