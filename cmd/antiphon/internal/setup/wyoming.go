package setup

// Services of the Wyoming protocol: what they say when they are asked to describe themselves.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// programs are the programs of one kind in the description of a service.
type programs []struct {
	Name      string `json:"name"`
	Installed *bool  `json:"installed"`
}

// describe asks a service what it is, as the protocol's README says: a line {"type":"describe"} is answered with a line of JSON, whose
// data_length bytes of JSON follow. It returns nil if no such answer comes.
func describe(ctx context.Context, conn net.Conn, u *url.URL) *Server {
	if until, is := ctx.Deadline(); is && conn.SetDeadline(until) != nil {
		return nil
	}
	if _, err := conn.Write([]byte("{\"type\":\"describe\"}\n")); err != nil {
		return nil
	}
	var info struct {
		ASR programs `json:"asr"`
		TTS programs `json:"tts"`
	}
	if readInfo(bufio.NewReader(io.LimitReader(conn, maxAnswer)), &info) != nil {
		return nil
	}
	s := &Server{Name: "Wyoming"}
	for stage, all := range map[string]programs{config.STT: info.ASR, config.TTS: info.TTS} {
		for _, p := range all {
			if p.Installed != nil && !*p.Installed {
				continue
			}
			name := "Wyoming " + printable(p.Name)
			s.Name = name
			s.Offers = append(s.Offers, Offer{Server: name, Stage: stage, Kind: kindWyoming, URL: "tcp://" + u.Host, rank: 10 * rank(stage, name)})
			break
		}
	}
	if len(s.Offers) == 0 {
		s.Note = "it has neither a recogniser nor a synthesizer"
	}
	return s
}

// readInfo reads the answer to "describe" into v.
func readInfo(r *bufio.Reader, v any) error {
	var head struct {
		Type       string          `json:"type"`
		Data       json.RawMessage `json:"data"`
		DataLength int             `json:"data_length"`
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return err
	}
	if head.Type != "info" || head.DataLength < 0 || head.DataLength > maxAnswer {
		return errors.New("no description")
	}
	if len(head.Data) > 0 {
		if err := json.Unmarshal(head.Data, v); err != nil {
			return err
		}
	}
	if head.DataLength == 0 {
		return nil
	}
	data := make([]byte, head.DataLength)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
