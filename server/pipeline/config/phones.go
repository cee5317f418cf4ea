package config

// The section `phones`: who may call by telephone, and who answers.

import (
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/sip"
	"github.com/antiphon-rt/antiphon/internal/phones"
	"github.com/antiphon-rt/antiphon/internal/webhook"
)

// Phones says who may call by telephone, and who answers.
type Phones struct {
	Principal string `yaml:"principal" doc:"The principal of the API key that controls the calls. Required if the server has keys."`
	Greeting  `yaml:",inline"`
	Webhook   PhoneWebhook  `yaml:"webhook" doc:"Who is asked for each call. Without it the session of the number answers."`
	Refer     []string      `yaml:"refer" doc:"Targets to which a call may be transferred, such as tel:+4930*; * stands for any characters. None where it is left out."`
	FirstPort int           `yaml:"first_port" min:"1024" max:"65535" doc:"With last_port: the UDP ports of the audio. Any where it is left out."`
	LastPort  int           `yaml:"last_port" min:"1024" max:"65535"`
	Quiet     time.Duration `yaml:"quiet" min:"5s" max:"10m" doc:"How long a caller may send nothing before the call ends; 30s where it is left out."`
	Trunks    []Trunk       `yaml:"trunks" doc:"Who may call."`
	Numbers   []Number      `yaml:"numbers" doc:"Which session answers which number: the first that fits. Without it the section session answers all."`
	Digits    string        `yaml:"digits" enum:"model,events,sensitive" doc:"What happens with keys of a telephone. model: they are text of the user after a pause of 2 s or at #, and an event for side-band controllers. events: the event alone. sensitive: the event alone, and no log, record or logbook has the keys. model where it is left out."`
	Streams   []Stream      `yaml:"streams" doc:"Telephones that come over a WebSocket: Asterisk, Twilio, Telnyx."`
}

// PhoneWebhook is a program of the operator that decides on calls.
type PhoneWebhook struct {
	URL     string        `yaml:"url" doc:"Its address, such as http://127.0.0.1:9000/calls."`
	KeyEnv  string        `yaml:"key_env" doc:"The environment variable that has the secret: whsec_ and 24 to 64 bytes in base64."`
	KeyFile string        `yaml:"key_file" type:"path" doc:"The file that has the secret, and nothing else."`
	Timeout time.Duration `yaml:"timeout" min:"100ms" max:"30s" doc:"How long each of three tries may take; 5s where it is left out."`
}

// Trunk is who may call: machines with certain addresses, or who knows the password of a user.
type Trunk struct {
	Name      string   `yaml:"name" required:"" doc:"A name for the log and for numbers."`
	Addresses []string `yaml:"addresses" doc:"Addresses and networks that call without a password, such as 203.0.113.0/28."`
	User      string   `yaml:"user" doc:"The name of digest authentication."`
	KeyEnv    string   `yaml:"key_env" doc:"With user: the environment variable that has the password."`
	KeyFile   string   `yaml:"key_file" type:"path" doc:"With user: the file that has the password, and nothing else."`
	Register  Register `yaml:"register" doc:"Where the server logs in, so that the provider sends calls. Needs addresses, too."`
	Out       Out      `yaml:"out" doc:"Which calls the server places over the trunk. Needs addresses, too."`
	Calls     int      `yaml:"calls" min:"1" max:"10000" doc:"How many calls the trunk has at a time; 30 where it is left out."`
}

// Register is an account at a provider or a telephone exchange, where the server logs in over UDP.
type Register struct {
	Server  string `yaml:"server" doc:"The registrar: a host, or a host and a port."`
	User    string `yaml:"user" doc:"The name of the account. The calls come for this number."`
	KeyEnv  string `yaml:"key_env" doc:"The environment variable that has the password."`
	KeyFile string `yaml:"key_file" type:"path" doc:"The file that has the password, and nothing else."`
}

// open returns the registration; nil for none.
func (r *Register) open(e Env) (*sip.Registration, error) {
	if *r == (Register{}) {
		return nil, nil //nolint:nilnil // said above
	}
	password, err := (&Remote{KeyEnv: r.KeyEnv, KeyFile: r.KeyFile}).Key(e)
	return &sip.Registration{Registrar: r.Server, User: r.User, Password: password}, err
}

// Number says which session answers a number.
type Number struct {
	Number   string  `yaml:"number" required:"" doc:"A number or a name as the trunk writes it; * stands for any characters."`
	Trunk    string  `yaml:"trunk" doc:"The trunk that brings it; any where it is left out."`
	Session  Session `yaml:"session" doc:"What replaces parts of the section session."`
	Greeting `yaml:",inline"`
}

// Greeting says whether the agent speaks first.
type Greeting struct {
	Greeting string `yaml:"greeting" doc:"What the agent says first, word for word. Without it the agent waits for the caller."`
	Greets   bool   `yaml:"greets" doc:"The agent speaks first: the model says what its instructions want."`
}

// words returns what the agent says first; nil for nothing, and "" for what the model wants to say.
func (g Greeting) words() (*string, error) {
	switch {
	case g.Greeting != "" && g.Greets:
		return nil, errors.New("greeting and greets: give one of them, the words or that the model finds them")
	case g.Greeting != "" || g.Greets:
		return &g.Greeting, nil
	}
	return nil, nil //nolint:nilnil // said above
}

// PhonesConfig has telephone calls as server.Config.Phones takes them.
type PhonesConfig = phones.Config

// PhoneCalls returns the section phones, for server.Config.Phones. The error names what is wrong.
func (f *File) PhoneCalls(e Env) (c PhonesConfig, err error) {
	p := &f.Phones
	c = phones.Config{Principal: p.Principal, Refer: p.Refer, FirstPort: uint16(p.FirstPort), LastPort: uint16(p.LastPort), Quiet: p.Quiet}
	wrong := func(what string, err error) (PhonesConfig, error) {
		return c, fmt.Errorf("%s: phones: %s%w", f.Path, what, err)
	}
	for _, t := range p.Trunks {
		trunk := sip.Trunk{Name: t.Name, User: t.User, Calls: t.Calls}
		if trunk.Networks, err = networks(t.Addresses); err != nil {
			return wrong("trunks: "+t.Name+": addresses: ", err)
		}
		if trunk.Password, err = (&Remote{KeyEnv: t.KeyEnv, KeyFile: t.KeyFile}).Key(e); err != nil {
			return wrong("trunks: "+t.Name+": ", err)
		}
		if trunk.Register, err = t.Register.open(e); err != nil {
			return wrong("trunks: "+t.Name+": register: ", err)
		}
		if err := t.Out.open(e, &t, &trunk, &c); err != nil {
			return wrong("trunks: "+t.Name+": out: ", err)
		}
		c.Trunks = append(c.Trunks, trunk)
	}
	for _, n := range p.Numbers {
		own := phones.Number{Number: n.Number, Trunk: n.Trunk}
		if own.Session, err = n.Session.json(); err != nil {
			return wrong("numbers: "+n.Number+": ", err)
		}
		if own.Greeting, err = n.words(); err != nil {
			return wrong("numbers: "+n.Number+": ", err)
		}
		c.Numbers = append(c.Numbers, own)
	}
	if c.Greeting, err = p.words(); err != nil {
		return wrong("", err)
	}
	if c.Webhook, err = p.Webhook.open(e); err != nil {
		return wrong("webhook: ", err)
	}
	if err := c.Check(); err != nil {
		return wrong("", err)
	}
	return c, nil
}

// open returns the webhook; nil for none.
func (w *PhoneWebhook) open(e Env) (*webhook.Hook, error) {
	if w.URL == "" {
		if w.KeyEnv != "" || w.KeyFile != "" {
			return nil, errors.New("url is missing")
		}
		return nil, nil //nolint:nilnil // said above
	}
	secret, err := (&Remote{KeyEnv: w.KeyEnv, KeyFile: w.KeyFile}).Key(e)
	if err != nil {
		return nil, err
	}
	return webhook.New(w.URL, secret, w.Timeout)
}
