package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/call/sip"
	"github.com/antiphon-rt/antiphon/internal/call/sip/audio"
	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/internal/phones"
	"github.com/antiphon-rt/antiphon/internal/webhook"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Telephone calls: SIP beside the HTTP API.

// The types of the fields of Phones.
type (
	// Phones say which telephone calls a Server takes. The zero value takes none.
	Phones = phones.Config
	// PhoneNumber says which session answers a number.
	PhoneNumber = phones.Number
	// PhoneOutlet says which calls go out over a trunk.
	PhoneOutlet = phones.Outlet
	// Trunk is who may call.
	Trunk = sip.Trunk
	// TrunkOut says how calls go out over a trunk.
	TrunkOut = sip.Out
	// Webhook is where events go. NewWebhook returns one.
	Webhook = webhook.Hook
)

// NewWebhook returns a webhook: its address, its secret (whsec_…), and how long one try may take (0 takes 5 s).
func NewWebhook(address, secret string, within time.Duration) (*Webhook, error) {
	return webhook.New(address, secret, within)
}

// openPhones opens SIP, if the Config asks for it.
func (s *Server) openPhones(set wire.Session) error {
	p := &s.cfg.Phones
	if !p.On() {
		return nil
	}
	trunks, err := p.Callers()
	if err != nil {
		return err
	}
	if s.cfg.Keys != nil && !s.cfg.Keys.Has(p.Principal) {
		return fmt.Errorf("phones: principal: no API key has the principal %q: name one whose keys control the calls of telephones", p.Principal)
	}
	if err := p.Check(); err != nil {
		return fmt.Errorf("phones: %w", err)
	}
	if err := s.checkOutlets(); err != nil {
		return err
	}
	if err := checkNumbers(s.cfg, set); err != nil {
		return err
	}
	s.phones, err = sip.New(sip.Config{
		Listen: p.Listen, ListenTLS: p.ListenTLS, TLS: p.TLS, Trunks: trunks, Ring: s.ring, Logger: s.cfg.Logger,
		Audio: sip.Audio{Public: s.cfg.PublicAddresses, FirstPort: p.FirstPort, LastPort: p.LastPort, Quiet: p.Quiet},
	})
	if err != nil {
		return err
	}
	var callers []string
	for _, t := range trunks {
		callers = append(callers, t.Name)
	}
	s.cfg.Logger.Info("telephones may call", "sip", p.Listen, "sip_tls", p.ListenTLS, "trunks", strings.Join(callers, ", "))
	return nil
}

// checkOutlets checks that only who has a key has the server call somebody.
func (s *Server) checkOutlets() error {
	for _, o := range s.cfg.Phones.Outlets {
		for _, who := range o.Principals {
			if !s.cfg.Keys.Has(who) {
				return fmt.Errorf("phones: trunks: %s: out: calls out need API keys, and no key has the principal %q: start the server with --api-key-file", o.Trunk, who)
			}
		}
	}
	return nil
}

// dial returns a call to a target over a trunk.
func (s *Server) dial(trunk, target string) (telephones.Outgoing, error) {
	if s.phones == nil {
		return nil, errors.New("the server has no SIP: start it with --sip")
	}
	c, err := s.phones.Dial(trunk, target)
	if err != nil {
		return nil, err
	}
	return telephone{c}, nil
}

// CheckPhones returns an error if New would refuse the telephones of a Config with this pipeline.
func CheckPhones(p *pipeline.Pipeline, cfg Config) error {
	cfg.Pipeline = p
	set, err := firstSettings(cfg)
	if err == nil {
		err = checkNumbers(cfg, set)
	}
	return err
}

// checkNumbers checks the sessions of the numbers.
func checkNumbers(cfg Config, set wire.Session) error {
	for _, n := range cfg.Phones.Numbers {
		own := set.Clone()
		if len(n.Session) == 0 {
			continue
		}
		if err := conversation.Merge(cfg.Pipeline, mcp.New(cfg.MCP), &own, wire.Raw(n.Session)); err != nil {
			return fmt.Errorf("phones: numbers: %s: %w", n.Number, err)
		}
	}
	return nil
}

// PhoneAddress returns where the Server takes SIP over UDP and TCP; the zero AddrPort for nowhere.
func (s *Server) PhoneAddress() netip.AddrPort {
	if s.phones == nil {
		return netip.AddrPort{}
	}
	return s.phones.Address()
}

// notFound is the status of SIP for a number that nobody has.
const notFound = 404

// ring decides on a call.
func (s *Server) ring(ctx context.Context, c *sip.Call) {
	p := &s.cfg.Phones
	plan := telephones.Plan{Principal: p.Principal, Webhook: p.Webhook, Refer: p.Refer, Greeting: p.Greeting}
	fits := len(p.Numbers) == 0
	for _, n := range p.Numbers {
		if !fits && (n.Trunk == "" || n.Trunk == c.Trunk()) && telephones.Matches(n.Number, c.Number()) {
			plan.Session, plan.Greeting, fits = n.Session, cmp.Or(n.Greeting, p.Greeting), true
		}
	}
	if !fits {
		s.cfg.Logger.Info("telephone call refused: phones: numbers: has no such number", "number", c.Number(), "trunk", c.Trunk())
		_ = c.Reject(notFound) // its caller may have given up
		return
	}
	s.calls.Ring(ctx, telephone{c}, plan)
}

// telephone is a call over SIP as the HTTP API and its link see it.
type telephone struct{ *sip.Call }

// Traits implements phone.Transport.
func (t telephone) Traits() phone.Traits { return phone.Traits{Rate: audio.Rate} }

// Place implements telephones.Outgoing.
func (t telephone) Place(l *phone.Link, rings time.Duration, news func(state string, status int)) {
	t.Call.Place(l, rings, func(s sip.State, status int) { news(string(s), status) })
}

// Accept implements telephones.Telephone.
func (t telephone) Accept(l *phone.Link) error { return t.Call.Accept(l) }
