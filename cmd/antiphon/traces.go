package main

// This file sends traces of turns to an OpenTelemetry collector.

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/antiphon-rt/antiphon/internal/version"
	"github.com/antiphon-rt/antiphon/server"
)

// traceTimeout limits one request to the collector, and the wait for the last traces when the server ends.
const traceTimeout = 5 * time.Second

// openTraces returns a tracer whose traces go to the collector at that URL by OTLP over HTTP. A collector that is away costs traces
// and nothing else: a limited number of them waits. stop sends what waits.
func openTraces(ctx context.Context, endpoint string) (tracer trace.Tracer, stop func() error, err error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, fmt.Errorf("--otlp-endpoint %q: want a URL such as http://localhost:4318/v1/traces", endpoint)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithTimeout(traceTimeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
	if err != nil {
		return nil, nil, fmt.Errorf("--otlp-endpoint %s: %w", endpoint, err)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "antiphon"), attribute.String("service.version", version.Version))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return provider.Tracer("github.com/antiphon-rt/antiphon"), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), traceTimeout)
		defer cancel()
		return provider.Shutdown(ctx)
	}, nil
}

// traces gives cfg a tracer if a flag names a collector. stop sends what waits.
func (c *serve) traces(ctx context.Context, cfg *server.Config, logger *slog.Logger) (stop func(), err error) {
	end := func() error { return nil }
	if c.OTLPEndpoint != "" {
		if cfg.Tracer, end, err = openTraces(ctx, c.OTLPEndpoint); err != nil {
			return nil, err
		}
	}
	return func() {
		if err := end(); err != nil {
			logger.Warn("traces were not sent", "err", err)
		}
	}, nil
}
