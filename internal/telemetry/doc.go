// Package telemetry measures a server: metrics for Prometheus, and a trace of each turn for OpenTelemetry. It has numbers, names of
// this code and identifiers, and never what people said.
package telemetry
