// Package runsapi is the HTTP API of the runs: POST and GET /v1/runs and what is below it. docs/runs.md describes it. Its caller checks the keys and says whose request it is.
package runsapi
