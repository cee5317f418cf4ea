package main

// This file has the flags of `antiphon serve` that limit what clients may do.

import (
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/server"
)

// limits are the flags that limit what clients may do. The file that --limits-file names may have each of them; it is read again while the
// server runs.
type limits struct {
	MaxSessions              int           `min:"0" default:"200" placeholder:"N" help:"Calls at a time."`
	SessionLength            time.Duration `default:"60m" help:"How long a session may be."`
	CallLength               time.Duration `default:"12h" help:"How long a call may be whose sessions follow each other; with --session-length or less, no session follows the first."`
	MaxMessage               int           `min:"0" default:"16384" placeholder:"KIB" help:"The largest event of a client over a WebSocket, in KiB."`
	MessageMemory            int           `min:"0" default:"256" placeholder:"MIB" help:"What waits of all clients may take together, in MiB: events above 256 KiB, audio for the recogniser, and what a client does not read."`
	ConversationMemory       int           `min:"0" default:"1024" placeholder:"MIB" help:"What the items of all conversations may take together, in MiB."`
	MaxConnections           int           `min:"0" placeholder:"N" help:"TCP connections at a time; 0 takes half of the files that the process may open, at most 4096."`
	MaxConnectionsPerAddress int           `min:"0" placeholder:"N" help:"TCP connections of one client address at a time; 0 takes half of --max-connections."`
	MaxLate                  float64       `min:"0" default:"10" placeholder:"PERCENT" help:"Refuse new calls while more of the audio is late; 0 for no limit."`
	MaxCPU                   float64       `min:"0" name:"max-cpu" default:"95" placeholder:"PERCENT" help:"Refuse new calls while more of the processor time is used; 0 for no limit."`
	CallsPerPrincipal        int           `min:"0" placeholder:"N" help:"Calls of one principal at a time; 0 takes half of --max-sessions if the key file names more than one, and all otherwise."`
	CallsPerSecret           int           `min:"0" default:"8" placeholder:"N" help:"Calls of one client secret at a time."`
	CallsPerAddress          int           `min:"0" placeholder:"N" help:"Calls of one client address without an API key at a time; 0 takes a quarter of --max-sessions."`
	CallAttempts             int           `min:"0" default:"60" placeholder:"N" help:"Calls that one client secret, or one client address without an API key, may begin in a minute."`
	SecretsPerPrincipal      int           `min:"0" placeholder:"N" help:"Client secrets of one principal at a time; 0 takes half of 10,000 if the key file names more than one, and all otherwise."`
	RequestsPerMinute        int           `min:"0" default:"6000" placeholder:"N" help:"Calls, client secrets and responses that one principal may begin in a minute; 0 for any number."`
	TokensPerMinute          int           `min:"0" default:"20000000" placeholder:"N" help:"Tokens of responses that one principal may use in a minute; 0 for any number."`
	EventsPerSecond          int           `min:"1" default:"500" placeholder:"N" help:"Events that one connection may send in a second; faster ones wait."`
	SecretSingleUse          bool          `help:"Let a client secret begin one call; else it begins any number until it expires."`
	SecretLock               []string      `placeholder:"FIELD" help:"Fields of the session that the holder of a client secret may not change, such as instructions (and with them system messages) or audio.output.voice; * for all."`
}

// Bounds of flags.
const (
	shortestSession = 5 * time.Second
	longestSession  = 24 * time.Hour
	longestCall     = 7 * 24 * time.Hour
	largestMessage  = 64 << 10 // KiB
)

// into checks the limits and writes them into cfg.
func (l *limits) into(cfg *server.Config) (err error) {
	switch {
	case l.RequestsPerMinute < 0 || l.TokensPerMinute < 0:
		return errors.New("--requests-per-minute and --tokens-per-minute: want a number above 0, or 0 for no limit")
	case l.MaxConnections < 0 || l.MaxConnectionsPerAddress < 0:
		return errors.New("--max-connections and --max-connections-per-address: want a number above 0, or 0 for the default")
	case min(l.CallsPerPrincipal, l.CallsPerSecret, l.CallsPerAddress, l.CallAttempts, l.SecretsPerPrincipal, l.MaxSessions) < 0:
		return errors.New("--max-sessions and the limits of calls and client secrets: want a number above 0, or 0 for the default")
	case l.SessionLength != 0 && (l.SessionLength < shortestSession || l.SessionLength > longestSession):
		return fmt.Errorf("--session-length %v: want %v to %v", l.SessionLength, shortestSession, longestSession)
	case l.CallLength < 0 || l.CallLength > longestCall:
		return fmt.Errorf("--call-length %v: want at most %v, or 0 for the default", l.CallLength, longestCall)
	case l.MaxMessage < 0 || l.MaxMessage > largestMessage || min(l.ConversationMemory, l.MessageMemory) < 0:
		return fmt.Errorf("--max-message, --message-memory and --conversation-memory: want a number above 0, and at most %d KiB for a message", largestMessage)
	case l.MaxLate < 0 || l.MaxCPU < 0:
		return errors.New("--max-late and --max-cpu: want a share in percent, or 0 for no limit")
	case l.EventsPerSecond < 1:
		return errors.New("--events-per-second: want a number above 0")
	}
	cfg.Rates = httpapi.Rates{RequestsPerMinute: l.RequestsPerMinute, TokensPerMinute: l.TokensPerMinute}
	cfg.Limits = httpapi.Limits{
		MaxSessions: l.MaxSessions, EventsPerSecond: l.EventsPerSecond, MaxMessage: int64(l.MaxMessage) << 10, MessageMemory: int64(l.MessageMemory) << 20, Memory: l.ConversationMemory << 20,
		Longest: l.SessionLength, LongestCall: l.CallLength, CallsPerPrincipal: l.CallsPerPrincipal, CallsPerSecret: l.CallsPerSecret, CallsPerAddress: l.CallsPerAddress,
		CallAttempts: l.CallAttempts, MaxLate: l.MaxLate, MaxCPU: l.MaxCPU, SecretsPerPrincipal: l.SecretsPerPrincipal,
	}
	cfg.Secrets.SingleUse = l.SecretSingleUse
	if cfg.Secrets.Locks, err = conversation.ParseLocks(l.SecretLock); err != nil {
		return fmt.Errorf("--secret-lock: %w", err)
	}
	return nil
}

// readLimits returns the limits with the changes that a file makes, which has flags without their dashes, such as "max-sessions: 100".
// path "" changes nothing.
func (l limits) readLimits(path string) (limits, error) {
	if path == "" {
		return l, nil
	}
	text, err := strict.Read(path)
	if err != nil {
		return l, fmt.Errorf("--limits-file: %w", err)
	}
	if err := strict.Decode(path, text, &l, strict.Options{}); err != nil {
		return l, fmt.Errorf("--limits-file: %w", err)
	}
	return l, nil
}
