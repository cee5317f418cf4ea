// Command embed-server is a web server that takes voice calls beside its own pages.
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
	"syscall"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	defer func() { _ = stages.Close() }() // an error here loses no data
	voice, err := server.New(server.Config{Pipeline: stages, Loopback: true, Instructions: "Be brief."})
	if err != nil {
		return err
	}
	defer voice.Close(context.Background()) // ends the calls, and waits until nothing of them is left

	mux := http.NewServeMux()
	mux.Handle("/v1/", voice)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "my own page") })

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	web := &http.Server{Handler: mux}
	defer context.AfterFunc(ctx, func() { _ = web.Shutdown(context.Background()) })()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
