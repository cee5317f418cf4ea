package main

// This file has the flags of `antiphon serve` for telephone calls.

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"

	"github.com/antiphon-rt/antiphon/server"
)

// telephones are the flags of telephone calls. The section phones of the configuration says who may call.
type telephones struct {
	SIP    string `name:"sip" placeholder:"HOST:PORT" help:"Take telephone calls by SIP over UDP and TCP here, such as :5060. The section phones of the configuration says who may call; without it, telephones of this machine may if the address is a loopback one."`
	SIPTLS string `name:"sip-tls" placeholder:"HOST:PORT" help:"Take telephone calls by SIP over TLS here, such as :5061, with the certificate of HTTPS."`
}

// into writes the flags into cfg. secured has the certificate of HTTPS; nil for none.
func (t *telephones) into(cfg *server.Config, secured *tls.Config, logger *slog.Logger) error {
	cfg.Phones.Listen, cfg.Phones.ListenTLS = t.SIP, t.SIPTLS
	for _, at := range []string{t.SIP, t.SIPTLS} {
		if _, _, err := net.SplitHostPort(at); at != "" && err != nil {
			return errors.New("--sip, --sip-tls: want HOST:PORT, such as 127.0.0.1:5060")
		}
	}
	switch {
	case t.SIPTLS != "" && secured == nil:
		return errors.New("--sip-tls needs a certificate: give --tls-cert and --tls-key, or --tls-self-signed")
	case t.SIPTLS != "":
		cfg.Phones.TLS = secured.Clone()
		cfg.Phones.TLS.NextProtos = nil
	case t.SIP == "" && len(cfg.Phones.Trunks) > 0:
		logger.Info("the configuration has telephone trunks, and nobody can call: give --sip :5060")
	}
	return nil
}
