// Package clients runs clients of the protocol that others wrote against the server: @openai/agents-realtime and openai, as npm
// installs them at the versions of package-lock.json, in Node and in a real Chromium. The tests compare the clients' reports with
// the scripted answers, and all events with the protocol's rules (package check) and with the parser of agents-realtime.
//
// programs/ has the JavaScript programs that use each client as an application does, and answer the calls of the tests.
package clients
