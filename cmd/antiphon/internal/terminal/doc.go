// Package terminal is the terminal client: it holds one call with an agent, reads messages from the standard input, prints the
// conversation, and connects the call to a microphone and a loudspeaker.
package terminal
