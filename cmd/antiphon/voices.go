package main

// This file has `antiphon voices`: it enrols people for the voice gate of a running server, and lists and removes them.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// voiceCommands are the subcommands of `antiphon voices`.
type voiceCommands struct {
	List  listVoices  `cmd:"" help:"List the people who are enrolled."`
	Enrol enrolVoice  `cmd:"" help:"Let a person pass the voice gate. It replaces a person of that name."`
	Rm    removeVoice `cmd:"" help:"Let a person pass the voice gate no more."`

	URL string `default:"http://localhost:8080" help:"The server's address."`
	Key string `placeholder:"KEY" help:"The API key, where the server asks for one. Other users of this machine can see a flag: ANTIPHON_KEY hides it."`
}

// Limits of one command.
const (
	voicesTimeout  = 2 * time.Minute         // the server takes up to 30 s for an enrolment, and the recording has to arrive
	maxVoiceSound  = 60 * pipeline.InputRate // samples of all recordings: the server uses no more
	maxVoiceFiles  = 10
	maxVoiceAnswer = 1 << 20 // bytes
)

type listVoices struct{}

func (l listVoices) Run(ctx context.Context, c *voiceCommands) error { return l.run(ctx, c, os.Stdout) }

func (listVoices) run(ctx context.Context, c *voiceCommands, w io.Writer) error {
	var found struct{ People []string }
	if err := c.ask(ctx, http.MethodGet, "", "", nil, &found); err != nil {
		return err
	}
	for _, name := range found.People {
		if _, err := fmt.Fprintln(w, terminal.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

type enrolVoice struct {
	Name       string   `arg:"" placeholder:"NAME" help:"Clients see it in antiphon.voice."`
	Recordings []string `arg:"" type:"existingfile" placeholder:"FILE.wav" help:"WAV files with this person's voice alone, together at least 2 s of speech and at most a minute."`
}

func (e *enrolVoice) Run(ctx context.Context, c *voiceCommands) error {
	recording, err := joinRecordings(e.Recordings)
	if err != nil {
		return err
	}
	var body bytes.Buffer // takes every write
	form := multipart.NewWriter(&body)
	_ = form.WriteField("name", e.Name)
	file, _ := form.CreateFormFile("file", "recording.wav")
	_, _ = file.Write(recording)
	_ = form.Close()
	if err := c.ask(ctx, http.MethodPost, "", form.FormDataContentType(), &body, nil); err != nil {
		return err
	}
	fmt.Println("enrolled", e.Name)
	return nil
}

type removeVoice struct {
	Name string `arg:"" placeholder:"NAME" help:"The name that the person is enrolled under."`
}

func (r *removeVoice) Run(ctx context.Context, c *voiceCommands) error {
	if err := c.ask(ctx, http.MethodPost, "/"+url.PathEscape(r.Name)+"/remove", "", nil, nil); err != nil {
		return err
	}
	fmt.Println("removed", r.Name)
	return nil
}

// ask sends a request to the routes of enrolment and decodes the answer into out, if out is not nil. The error has the message of the server.
func (c *voiceCommands) ask(ctx context.Context, method, path, kind string, body io.Reader, out any) error {
	ctx, cancel := context.WithTimeout(ctx, voicesTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+"/v1/antiphon/voices"+path, body)
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("%w: start the server, or give its address with --url, such as http://localhost:8080", err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxVoiceAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		var refused struct{ Error struct{ Message string } }
		_ = json.Unmarshal(text, &refused) // another kind of server may answer
		return fmt.Errorf("%s answers %s: %s", c.URL, answer.Status, cmp.Or(refused.Error.Message, "it may be no Antiphon server"))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// joinRecordings returns one WAV file that has the sound of all files, mono at pipeline.InputRate.
func joinRecordings(paths []string) ([]byte, error) {
	if len(paths) > maxVoiceFiles {
		return nil, fmt.Errorf("there are %d recordings: want at most %d", len(paths), maxVoiceFiles)
	}
	var all []float32
	for _, path := range paths {
		pcm, err := config.ReadRecording(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, pcm...)
	}
	if len(all) > maxVoiceSound {
		return nil, errors.New("the recordings have more than a minute of sound together, and the server hears one minute: give fewer or shorter ones")
	}
	sound := voice.PCM16ToBytes(nil, voice.FloatToPCM16(nil, all))
	return append(wav.Header(pipeline.InputRate, len(sound)), sound...), nil
}
