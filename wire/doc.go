// Package wire has the messages of the Realtime protocol and their codec, for both ends of the call.
package wire

//go:generate go run ./internal/gen
