package config

// The part of the section `phones` for telephones that come over a WebSocket.

import (
	"cmp"
	"fmt"

	"github.com/antiphon-rt/antiphon/internal/call/phone/stream"
	"github.com/antiphon-rt/antiphon/internal/call/session"
)

// Stream is a door for telephones that come over a WebSocket, at /v1/antiphon/phones/NAME.
type Stream struct {
	Name          string  `yaml:"name" required:"" doc:"The last part of the path: small letters, digits and hyphens."`
	Kind          string  `yaml:"kind" enum:"asterisk,twilio,telnyx" required:"" doc:"What comes."`
	KeyEnv        string  `yaml:"key_env" doc:"The environment variable that has the key of the telephones: the password of basic authentication, or one more part of the path. At least 16 characters."`
	KeyFile       string  `yaml:"key_file" type:"path" doc:"The file that has the key, and nothing else."`
	AuthTokenEnv  string  `yaml:"auth_token_env" doc:"With twilio: the environment variable that has the account's auth token. The server then checks Twilio's signature."`
	AuthTokenFile string  `yaml:"auth_token_file" type:"path" doc:"With twilio: the file that has the auth token, and nothing else."`
	URL           string  `yaml:"url" doc:"With auth_token: the wss:// address in the <Stream> element, over which Twilio signs."`
	Principal     string  `yaml:"principal" doc:"The principal whose API keys control the calls; that of the section where it is left out."`
	Calls         int     `yaml:"calls" min:"1" max:"10000" doc:"How many calls there may be at a time; 30 where it is left out."`
	Session       Session `yaml:"session" doc:"What replaces parts of the section session."`
	Greeting      `yaml:",inline"`
}

// PhoneStream is a door as server.Config.Streams takes it, and Digits are what server.Config.Digits takes.
type (
	PhoneStream = stream.Config
	Digits      = session.Digits
)

// PhoneStreams returns the telephones that come over a WebSocket, for server.Config.Streams, and what happens with keys, for server.Config.Digits.
func (f *File) PhoneStreams(e Env) (all []PhoneStream, digits Digits, err error) {
	greeting, err := f.Phones.words()
	if err != nil {
		return nil, "", fmt.Errorf("%s: phones: %w", f.Path, err)
	}
	for _, s := range f.Phones.Streams {
		c := stream.Config{Name: s.Name, Kind: stream.Kind(s.Kind), URL: s.URL, Principal: cmp.Or(s.Principal, f.Phones.Principal), Calls: s.Calls}
		c.Key, err = (&Remote{KeyEnv: s.KeyEnv, KeyFile: s.KeyFile}).Key(e)
		if err == nil {
			c.AuthToken, err = (&Remote{KeyEnv: s.AuthTokenEnv, KeyFile: s.AuthTokenFile}).Key(e)
		}
		if err == nil {
			c.Session, err = s.Session.json()
		}
		if err == nil {
			c.Greeting, err = s.words()
		}
		c.Greeting = cmp.Or(c.Greeting, greeting)
		if err != nil {
			return nil, "", fmt.Errorf("%s: phones: streams: %s: %w", f.Path, s.Name, err)
		}
		all = append(all, c)
	}
	if err := stream.Check(all); err != nil {
		return nil, "", fmt.Errorf("%s: phones: streams: %w", f.Path, err)
	}
	return all, session.Digits(f.Phones.Digits), nil
}
