package config

// The part of the section `phones` for calls that the server places.

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/sip"
	"github.com/antiphon-rt/antiphon/internal/phones"
)

// Out says which calls the server places over a trunk.
type Out struct {
	Allow      []string      `yaml:"allow" doc:"Whom the server may call: patterns of numbers such as +4930*, or of addresses such as sip:*@example.org; * stands for any characters. Nobody where it is left out."`
	Server     string        `yaml:"server" doc:"Where the calls go: a host, or a host and a port. That of register where it is left out."`
	Transport  string        `yaml:"transport" enum:"udp,tcp,tls" doc:"How the calls go there; udp where it is left out. With tls the certificate must be of the host of server."`
	CAFile     string        `yaml:"ca_file" type:"path" doc:"With tls: the certificates in PEM that may have signed the certificate of server; those of the system where it is left out."`
	SRTP       bool          `yaml:"srtp" doc:"With tls: the audio is encrypted, with keys in the SDP. Without it the audio is not encrypted."`
	User       string        `yaml:"user" doc:"The name of digest authentication; that of register where it is left out."`
	KeyEnv     string        `yaml:"key_env" doc:"With user: the environment variable that has the password."`
	KeyFile    string        `yaml:"key_file" type:"path" doc:"With user: the file that has the password, and nothing else."`
	From       string        `yaml:"from" doc:"The number that the called party sees; user where it is left out."`
	Principals []string      `yaml:"principals" doc:"The principals whose API keys place calls; that of the section where it is left out."`
	Calls      int           `yaml:"calls" min:"1" max:"1000" doc:"How many calls there may be at a time; 5 where it is left out. Each principal has an equal part of this limit and of the next two."`
	PerMinute  int           `yaml:"per_minute" min:"1" max:"1000" doc:"How many calls are placed in a minute; 10 where it is left out."`
	PerHour    int           `yaml:"per_hour" min:"1" max:"10000" doc:"How many calls are placed in an hour; 60 where it is left out."`
	Ring       time.Duration `yaml:"ring" min:"5s" max:"3m" doc:"How long a call may ring; 30s where it is left out."`
	Greeting   `yaml:",inline"`
}

// open adds the outlet of a trunk, if there is one.
func (o *Out) open(e Env, of *Trunk, trunk *sip.Trunk, c *PhonesConfig) (err error) {
	if len(o.Allow) == 0 && o.Server == "" {
		return nil
	}
	out := &sip.Out{Proxy: cmp.Or(o.Server, of.Register.Server), User: o.User, From: o.From, Transport: strings.ToUpper(o.Transport), Secure: o.SRTP}
	if o.CAFile != "" {
		if out.Roots, err = roots(o.CAFile); err != nil {
			return err
		}
	}
	if r := trunk.Register; r != nil && o.User == "" {
		out.User, out.Password = r.User, r.Password
	} else if out.Password, err = (&Remote{KeyEnv: o.KeyEnv, KeyFile: o.KeyFile}).Key(e); err != nil {
		return err
	}
	outlet := phones.Outlet{Trunk: of.Name, Principals: o.Principals, Allow: o.Allow, Calls: o.Calls, PerMinute: o.PerMinute, PerHour: o.PerHour, Rings: o.Ring}
	if len(o.Principals) == 0 {
		outlet.Principals = []string{c.Principal}
	}
	if outlet.Greeting, err = o.words(); err != nil {
		return err
	}
	trunk.Out, c.Outlets = out, append(c.Outlets, outlet)
	return nil
}

// roots reads the certificates of a file.
func roots(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_file: %s has no certificate in PEM", path)
	}
	return pool, nil
}
