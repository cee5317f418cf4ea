package storage_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
	"github.com/antiphon-rt/antiphon/server/storage"
)

// A server keeps idempotency keys, client secrets and the journals of its calls in a folder.
func Example() {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx := context.Background()
	kept, err := storage.Open(ctx, storage.Options{Dir: folder})
	if err != nil {
		log.Fatal(err)
	}
	stages, err := embedded.New(ctx, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = stages.Close() }()
	voice, err := server.New(server.Config{Pipeline: stages, Loopback: true, Stored: kept.Stored})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		within, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := voice.Close(within); err != nil {
			log.Println(err)
		}
		if err := kept.Close(within); err != nil { // after the server
			log.Println(err)
		}
	}()

	var answers [2]string
	for i := range answers {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/realtime/client_secrets", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "6f1c")
		w := httptest.NewRecorder()
		voice.ServeHTTP(w, r)
		answers[i] = w.Body.String()
	}
	fmt.Println("the second answer is the first one:", answers[0] == answers[1])
	// Output: the second answer is the first one: true
}
