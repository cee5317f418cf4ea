// Package pb has the messages and the service of backend.proto, as generated code.
package pb

// The command that makes the code, and the descriptors that the example in Python reads.

//go:generate go run -C ../../../../../tools/proto . ../../internal/engine/backend/rpc/pb backend.proto ../../examples/backend-python/backend.binpb
