package setup

// Services of the Wyoming protocol: what they say when they are asked to describe themselves.

import (
	"context"
	"net"
	"net/url"

	"github.com/antiphon-rt/antiphon/internal/engine/wyoming"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// describe asks a service what it is. It returns nil if it does not say so.
func describe(ctx context.Context, conn net.Conn, u *url.URL) *Server {
	if until, is := ctx.Deadline(); is && conn.SetDeadline(until) != nil {
		return nil
	}
	recognisers, synthesizers, err := wyoming.Describe(conn)
	if err != nil {
		return nil
	}
	s := &Server{Name: "Wyoming"}
	for stage, names := range map[string][]string{config.STT: recognisers, config.TTS: synthesizers} {
		if len(names) == 0 {
			continue
		}
		s.Name = "Wyoming " + printable(names[0])
		s.Offers = append(s.Offers, Offer{Server: s.Name, Stage: stage, Kind: kindWyoming, URL: "tcp://" + u.Host, rank: 10 * rank(stage, s.Name)})
	}
	if len(s.Offers) == 0 {
		s.Note = "it has neither a recogniser nor a synthesizer"
	}
	return s
}
