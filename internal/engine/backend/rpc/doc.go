// Package rpc connects recognisers over gRPC: New calls a back end in any language, and Serve makes one of a backend.Engine. The
// file pb/backend.proto has the protocol.
package rpc
