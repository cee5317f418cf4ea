// Command server-tools serves calls of the embedded pipeline, whose assistant can use a tool that the server runs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// weather is the tool. A real one asks a weather service. If that takes more than 1.5 s, the agent says the announcement.
var weather = pipeline.ServerTool{
	Tool: pipeline.Tool{
		Name: "get_weather", Description: "The weather in a town.",
		Parameters: []byte(`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`),
	},
	Run: func(_ context.Context, arguments string) (string, error) {
		var asked struct{ Town string }
		if err := json.Unmarshal([]byte(arguments), &asked); err != nil || asked.Town == "" {
			return "", errors.New("the town is missing")
		}
		return "sunny in " + asked.Town, nil
	},
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
	stages, err := embedded.New(ctx, embedded.Options{})
	if err != nil {
		return err
	}
	calls, err := server.New(server.Config{
		Pipeline: stages, Loopback: true,
		Tools: pipeline.ServerTools{Tools: []pipeline.ServerTool{weather}, Announcement: "One moment, please."},
	})
	if err != nil {
		return errors.Join(err, stages.Close())
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return errors.Join(err, calls.Close(ctx), stages.Close())
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	web := &http.Server{Handler: calls}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err = web.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, calls.Close(context.Background()), stages.Close())
}
