// Package clients runs clients of the protocol that others wrote against the server: @openai/agents-realtime and openai, as npm
// installs them at the versions of package-lock.json, in Node and in a real Chromium. What they report is held against what they
// were told; what passed is held against the protocol's rules (package check) and against the parser of agents-realtime.
//
// programs/ has the few lines of JavaScript that use each client as its users do, and answer what the tests here ask.
package clients
