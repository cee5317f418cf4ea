// Command own-model serves calls with its own model between the recogniser and the synthesizer of the embedded pipeline.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// parrot answers with the user's last words, one at a time.
type parrot struct{}

func (parrot) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	var usage pipeline.Usage
	for _, word := range strings.Fields(r.Messages[len(r.Messages)-1].Text) {
		if err := ctx.Err(); err != nil {
			return usage, err
		}
		usage.OutputTokens++
		if err := emit(pipeline.TextDelta{Text: word + " "}); err != nil {
			return usage, err
		}
	}
	return usage, nil
}

func newPipeline(ctx context.Context) (*pipeline.Pipeline, error) {
	p, err := embedded.New(ctx, embedded.Options{})
	if err != nil {
		return nil, err
	}
	p.Model = parrot{}
	return p, nil // for server.Config.Pipeline; Close it after the server
}

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *address); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, address string) error {
	p, err := newPipeline(ctx)
	if err != nil {
		return err
	}
	calls, err := server.New(server.Config{Pipeline: p, Loopback: true})
	if err != nil {
		return errors.Join(err, p.Close())
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return errors.Join(err, calls.Close(ctx), p.Close())
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	web := &http.Server{Handler: calls}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err = web.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, calls.Close(context.Background()), p.Close())
}
