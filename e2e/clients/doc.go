// Package clients runs clients of the protocol that others wrote against the server. @openai/agents-realtime and openai run in Node and in a
// real Chromium, as npm installs them at the versions of package-lock.json. openai, openai-agents, livekit-agents and pipecat run in Python,
// as pip installs them at the versions of requirements.txt. The tests compare the clients' reports with the scripted answers, and all events
// with the protocol's rules (package check) and with the parser of agents-realtime.
//
// programs/ has the programs that use each client as an application does, and answer the calls of the tests.
package clients
