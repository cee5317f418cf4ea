package conversation

// The settings of one session: their present values, and changes of them.

import (
	"errors"
	"fmt"
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxSettings is the size of the largest session object, in bytes of its JSON. It is larger than what a request that begins a call can have, which is 1 MiB.
const maxSettings = 2 << 20

// ownSettings is how much of a session's settings is beside the memory for what waits, in bytes.
const ownSettings = 64 << 10

// defaults is more than what an update adds beside its own JSON, such as those of a turn detection that begins. A byte of its JSON becomes three at most (U+FFFD).
const defaults = 32 << 10

// Settings are the settings of one session. They belong to one goroutine.
//
// A method that a client's event leads to takes privileged: it is true for a side-band controller that may change locked fields.
type Settings struct {
	env      env.Env
	pipeline *pipeline.Pipeline
	locks    Locks
	current  wire.Session
	most     int            // the size of current is at most that, in bytes of its JSON
	timeZone *time.Location // the user's; nil for unknown
	memory   *account.Account
	held     int // what memory has for current, in bytes
	// Servers are the MCP servers that the session may use.
	Servers *mcp.Directory
	// Client is what the client has said of itself. SetTimeZone changes its TimeZone.
	Client journal.Client
}

// NewSettings returns the settings of a session that begins with first. p is the session's pipeline and is not nil; locks are the
// fields that an unprivileged client may not change.
func NewSettings(e env.Env, p *pipeline.Pipeline, first wire.Session, locks Locks) *Settings {
	return &Settings{env: e, pipeline: p, locks: locks, current: first, most: maxSettings}
}

// ShareMemory charges the settings to a budget from now on. It refuses none of the present ones.
func (s *Settings) ShareMemory(p account.Purse) {
	s.memory = p.Open(ownSettings)
	_ = s.charge(len(wire.AppendSession(nil, &s.current)))
}

// Close gives back the memory. The settings stay.
func (s *Settings) Close() { s.memory.Close() }

// charge has the budget know that the settings take size bytes. It returns false, and changes nothing, if the budget has too little.
func (s *Settings) charge(size int) bool {
	if size > s.held && s.memory.Take(int64(size-s.held)) != nil {
		return false
	}
	s.memory.Give(int64(max(0, s.held-size)))
	s.held = size
	return true
}

// Current returns the present session object. Its slices and pointers are shared with s: read them only.
func (s *Settings) Current() wire.Session { return s.current }

// TurnDetection returns the server's turn detection, nil when the client commits turns itself. Read it only.
func (s *Settings) TurnDetection() *wire.TurnDetection { return s.current.Audio.Input.TurnDetection }

// Transcription says how user audio is transcribed, nil when the client wants no transcripts. Read it only.
func (s *Settings) Transcription() *wire.Transcription { return s.current.Audio.Input.Transcription }

// NoiseReduction returns the kind of noise reduction, such as wire.NearField; "" for none.
func (s *Settings) NoiseReduction() string {
	if n := s.current.Audio.Input.NoiseReduction; n != nil {
		return n.Type
	}
	return ""
}

// NoNoiseReduction notes that there is no noise reduction any more. Clients see it in the next session object.
func (s *Settings) NoNoiseReduction() { s.current.Audio.Input.NoiseReduction = nil }

// InputFormat returns the format of audio in the client's events, such as wire.FormatPCM.
func (s *Settings) InputFormat() string { return s.current.Audio.Input.Format.Type }

// SetTimeZone takes the name of the user's time zone, such as "Europe/Oslo". It ignores a name that it does not know.
func (s *Settings) SetTimeZone(name string) {
	if name == "" || name == "Local" || len(name) > maxTimeZone {
		return
	}
	if zone, err := time.LoadLocation(name); err == nil {
		s.timeZone, s.Client.TimeZone = zone, zone.String()
	}
}

// maxTimeZone is the longest name of a time zone, in bytes.
const maxTimeZone = 64

// OutputFormat returns the format of audio in the server's events, such as wire.FormatPCM.
func (s *Settings) OutputFormat() string { return s.current.Audio.Output.Format.Type }

// Logprobs reports whether the client wants the probabilities of transcribed words, and the recogniser has them.
func (s *Settings) Logprobs() bool { return len(s.current.Include) > 0 }

// Update merges patch, the session object of a session.update. On success it returns the events that announce the change
// to every client. On a failure the settings are as before.
func (s *Settings) Update(patch wire.Raw, privileged bool) ([]wire.ServerEvent, *room.Failure) {
	next := s.current
	err := Merge(s.pipeline, s.Servers, &next, patch)
	if err == nil && !privileged {
		err = s.locks.Check(&s.current, &next)
	}
	if err != nil {
		return nil, failure(err)
	}
	most := s.most + 3*len(patch) + defaults
	if most > ownSettings {
		most = len(wire.AppendSession(nil, &next))
	}
	if most > maxSettings {
		return nil, room.Refuse("session_too_large", "session",
			fmt.Sprintf("the session's settings take %d bytes, and at most %d are taken: shorten the instructions or the tools", most, maxSettings))
	}
	if !s.charge(most) {
		return nil, &room.Failure{
			Type: room.TypeServer, Code: "server_busy", Param: "session",
			Message: "there is no memory for these settings now: shorten the instructions or the tools, or try again in a moment",
		}
	}
	s.current, s.most = next, most
	return []wire.ServerEvent{&wire.SessionUpdated{Session: s.current}}, nil
}

// failure returns an error of Merge or Locks as the client gets it. nil stays nil.
func failure(err error) *room.Failure {
	if err == nil {
		return nil
	}
	var bad *wire.DecodeError
	if errors.As(err, &bad) {
		return room.Refused(bad)
	}
	return &room.Failure{Code: wire.CodeInvalidValue, Message: err.Error()}
}

// MachineConfig returns the part of the settings, and of what the client has said of itself, that decides transitions of the state machines. serverPaced says that
// the server paces the audio. A client that plays by itself makes no reports that the server uses.
func (s *Settings) MachineConfig(serverPaced bool) coord.Config {
	c := coord.Config{Reports: s.Client.Reports && serverPaced}
	if td := s.TurnDetection(); td != nil && s.current.Type != typeTranscription {
		c.Interrupt, c.CreateResponse = td.InterruptResponse, td.CreateResponse
	}
	return c
}

// TranscribeConfig returns what the recogniser is asked for. live asks for partial results.
func (s *Settings) TranscribeConfig(live bool) pipeline.TranscribeConfig {
	c := pipeline.TranscribeConfig{Live: live, Words: s.Client.Words}
	if tr := s.Transcription(); tr != nil {
		c.Model, c.Language, c.Prompt = tr.Model, tr.Language, tr.Prompt
	}
	return c
}

// maxTraceName bounds a tracing name in the log, in bytes.
const maxTraceName = 256

// Tracing is the part of the client's tracing setting that goes into the log. The metadata stands in the recording of the events, where there is one.
type Tracing struct {
	On              bool
	Workflow, Group string // at most maxTraceName bytes each
}

// Tracing returns the session's tracing setting.
func (s *Settings) Tracing() Tracing {
	t := s.current.Tracing
	name := func(field string) string {
		v, _ := t.Field(field)
		text, _ := v.Text()
		return text[:min(len(text), maxTraceName)]
	}
	return Tracing{On: t != nil, Workflow: name("workflow_name"), Group: name("group_id")}
}
