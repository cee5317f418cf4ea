// Command plain-server asks a question of any server that speaks the Realtime protocol, an Antiphon or another one,
// and prints the answer as it grows. The key is taken from OPENAI_API_KEY.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

func main() {
	url := flag.String("url", "https://api.openai.com", "the server's address")
	model := flag.String("model", "gpt-realtime", "the model to ask for")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := ask(ctx, *url, *model, strings.Join(flag.Args(), " ")); err != nil {
		log.Fatal(err)
	}
}

func ask(ctx context.Context, url, model, question string) error {
	session, err := sdk.New(sdk.Options{
		Dialer:       native.NewSocketDialer(native.Options{URL: url, Key: os.Getenv("OPENAI_API_KEY")}),
		Model:        model,
		Instructions: "Be brief.",
		NoMicrophone: true,
		TextReplies:  true,
	})
	if err != nil {
		return err
	}
	answered := make(chan error, 1)
	printed, done := 0, false
	session.Subscribe(func(now sdk.Snapshot) {
		if done {
			return
		}
		if now.State == sdk.Failed {
			done = true
			answered <- now.Err
		}
		if n := len(now.Transcript); n > 0 && now.Transcript[n-1].Role == sdk.Agent {
			last := now.Transcript[n-1]
			fmt.Print(last.Text[min(printed, len(last.Text)):])
			printed = len(last.Text)
			if !last.Live {
				fmt.Println()
				done = true
				answered <- nil
			}
		}
	})
	if err := session.Connect(ctx); err != nil {
		return err // the error says what to do
	}
	if err := session.SendText(question); err != nil {
		return err
	}
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = session.Close(context.Background())
	return err
}
