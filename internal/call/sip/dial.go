package sip

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/sip/audio"
)

// Calls out: this server calls a telephone over a trunk.

// Out says how this server places calls over a trunk. The trunk's Networks have Proxy.
type Out struct {
	// Proxy is where the calls go: HOST or HOST:PORT.
	Proxy string
	// User and Password answer the challenges of the proxy; empty for none.
	User, Password string
	// From is the number that the called party sees; empty takes User.
	From string
	// Transport is UDP, TCP or TLS; empty takes UDP. TLS checks that the certificate is of the host of Proxy, and of one of Roots; nil takes those of the system.
	Transport string
	Roots     *x509.CertPool
	// Secure encrypts the audio, with keys in the SDP (RFC 4568). It needs TLS.
	Secure bool
}

// The transports of calls out.
const (
	UDP = "UDP"
	TCP = "TCP"
	TLS = "TLS"
)

// proxy returns where the calls go, with a port.
func (o *Out) proxy() string {
	host, port, _ := hostPort(o.Proxy) // Check has read it
	if _, _, err := net.SplitHostPort(o.Proxy); err != nil {
		port = sip.DefaultPort(o.Transport)
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// connects returns what opens a connection to a proxy; nil for UDP.
func (s *Server) connects(t *Trunk, transport string, to netip.AddrPort) func(ctx context.Context) error {
	lines, secure := s.tcpOut, (*tls.Config)(nil)
	switch transport {
	case TCP:
	case TLS:
		lines, secure = s.tlsOut, &tls.Config{ServerName: to.Addr().String(), MinVersion: tls.VersionTLS12}
		if o := t.Out; o != nil && o.Transport == TLS {
			secure.ServerName, _, _ = hostPort(o.Proxy) // Check has read it
			secure.RootCAs = o.Roots
		}
	default:
		return nil
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, findsWithin)
		defer cancel()
		return lines.Connect(ctx, to, secure, func(n int) time.Duration { return s.door.spend(t, n) })
	}
}

func (o *Out) check(t *Trunk) error {
	if o == nil {
		return nil
	}
	host, _, err := hostPort(o.Proxy)
	switch {
	case err != nil || host == "":
		return errors.New("server: want a host, or a host and a port such as sip.example.org:5060")
	case o.From == "" && o.User == "":
		return errors.New("from is missing: give the number that the called party sees")
	case strings.ContainsFunc(o.From+o.User, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>\"@:;?,", r) }):
		return errors.New("from and user: want a number or a name such as +4930123456")
	case len(t.Networks) == 0:
		return errors.New("give the provider's addresses, too: its answers come from there")
	case !slices.Contains([]string{"", UDP, TCP, TLS}, o.Transport):
		return errors.New("transport: want udp, tcp or tls")
	case o.Secure && o.Transport != TLS:
		return errors.New("srtp needs transport: tls: the keys of the audio are in the messages")
	case o.Roots != nil && o.Transport != TLS:
		return errors.New("ca_file needs transport: tls")
	}
	return nil
}

// State is how far a call out is.
type State string

// The states of a call out. A call has each at most once, and after Ringing, EarlyMedia and Answered another one may follow.
const (
	Ringing    State = "ringing"
	EarlyMedia State = "early_media" // the trunk sends sound, such as an announcement, before the call is answered
	Answered   State = "answered"
	Busy       State = "busy"
	NoAnswer   State = "no_answer"
	Declined   State = "declined"
	Canceled   State = "canceled" // by this server
	Failed     State = "failed"
)

const (
	// findsWithin bounds how long the address of a proxy is looked up.
	findsWithin = 5 * time.Second
	// maxAnswers is how many answers to an INVITE are read, and maxChallenges how many challenges are answered.
	maxAnswers, maxChallenges = 64, 2
)

// Dial returns a call to a target: a number, or sip:NAME@HOST. Place places it.
func (s *Server) Dial(trunk, target string) (*Call, error) {
	i := slices.IndexFunc(s.cfg.Trunks, func(t Trunk) bool { return t.Name == trunk && t.Out != nil })
	if i < 0 {
		return nil, fmt.Errorf("sip: no calls go out over a trunk %s", trunk)
	}
	t := &s.cfg.Trunks[i]
	host, port, _ := hostPort(t.Out.proxy()) // Check has read it
	if port == sip.DefaultPort(t.Out.Transport) {
		port = 0
	}
	to := sip.Uri{Scheme: "sip", User: target, Host: host, Port: port}
	if strings.HasPrefix(target, "sip:") {
		if err := sip.ParseUri(target, &to); err != nil {
			return nil, fmt.Errorf("sip: %w", err)
		}
	}
	from := sip.FromHeader{Address: sip.Uri{Scheme: "sip", User: t.Out.From, Host: host}}
	if t.Out.From == "" {
		from.Address.User = t.Out.User
	}
	from.Params.Add("tag", newID())
	id := sip.CallIDHeader(newID())
	r := sip.NewRequest(sip.INVITE, to)
	for _, h := range []sip.Header{&from, &sip.ToHeader{Address: to}, &id, &sip.CSeqHeader{SeqNo: 1, MethodName: sip.INVITE}, allows(), sip.NewHeader("Content-Type", "application/sdp")} {
		r.AppendHeader(h)
	}
	r.SetTransport(cmp.Or(t.Out.Transport, UDP))
	return &Call{server: s, trunk: t, signalling: signalling{invite: r, early: make(chan *sip.Response, maxAnswers)}, acked: make(chan uint32, 1), agreed: make(chan struct{}), over: make(chan struct{}), ended: make(chan struct{})}, nil
}

// Place places a call of Dial, which rings for a time at most. It tells news what happens. l is the link of the call: it begins when the call is answered, and hears of its end
// in any case. Place returns when nothing of the call is left, some time after its end: a call that rings is taken back first.
func (c *Call) Place(l Line, rings time.Duration, news func(s State, status int)) {
	defer close(c.over)
	s := c.server
	if !s.enter(c.trunk) {
		news(Failed, 0)
		l.Ended(fmt.Errorf("sip: the trunk has as many calls as it may: %w", link.ErrHungUp))
		return
	}
	defer s.leave(c.trunk)
	d := &dialing{call: c, link: l, news: news, told: map[State]bool{}}
	if err := d.prepare(); err != nil {
		d.ends(Failed, 0, err)
		return
	}
	defer c.stream.Close()
	defer c.timer.stop()
	defer s.strikes(c)
	if !s.lists(c, c.invite.CallID().Value()) {
		d.ends(Canceled, 0, errors.New("the server closes"))
		return
	}
	d.rings(rings)
	if _, answered := c.decision(); answered {
		<-c.ended // the link ends every call that was answered
	}
}

// dialing is a call out that is not answered yet. One goroutine has it.
type dialing struct {
	call   *Call
	link   Line
	news   func(s State, status int)
	told   map[State]bool
	over   bool // the link has heard of the end
	heard  bool // an answer to the present INVITE has come
	dialog *sipgo.DialogClientSession
	route  *route
	early  []byte // the description of a provisional answer
	tries  int    // challenges
}

// tell tells of a state, once.
func (d *dialing) tell(s State, status int) {
	if !d.told[s] && !d.over {
		d.told[s] = true
		d.news(s, status)
	}
}

// ends tells of the end, once.
func (d *dialing) ends(s State, status int, why error) {
	d.tell(s, status)
	if !d.over {
		d.over = true
		d.call.server.cfg.Logger.Info("telephone call not answered", "trunk", d.call.trunk.Name, "state", s, "status", status, "why", why)
		d.link.Ended(fmt.Errorf("sip: %w: %w", why, link.ErrHungUp))
	}
}

// prepare finds the proxy, opens the socket of the audio, and makes the dialog.
func (d *dialing) prepare() (err error) {
	c := d.call
	s := c.server
	ctx, cancel := context.WithTimeout(context.Background(), findsWithin)
	defer cancel()
	if c.peer, err = c.trunk.find(ctx, c.trunk.Out.proxy()); err != nil {
		return err
	}
	public := s.reach(c.peer.Addr())
	sound := s.audio(public, c.peer.Addr())
	sound.Secure = c.trunk.Out.Secure
	if c.stream, err = audio.Open(sound); err != nil {
		return err
	}
	c.contact = s.contact(public, c.invite.Transport())
	c.invite.AppendHeader(&c.contact)
	c.invite.SetBody(c.stream.Offer())
	client := s.clientTo(c.peer, s.connects(c.trunk, c.invite.Transport(), c.peer))
	d.route, _ = client.TxRequester.(*route) // clientTo has set it
	d.dialog = &sipgo.DialogClientSession{Dialog: sipgo.Dialog{InviteRequest: c.invite}, UA: &sipgo.DialogUA{Client: client, ContactHDR: c.contact, RewriteContact: true}}
	d.dialog.Init()
	c.dialog = d.dialog
	return nil
}

// rings sends the INVITE and waits for the final answer to it. A call that rings for too long, or that this server ends, is taken back.
func (d *dialing) rings(limit time.Duration) {
	ringing, gone := time.NewTimer(limit), time.NewTimer(limit+acksWithin)
	defer ringing.Stop()
	defer gone.Stop()
	ended := d.call.ended
	if err := d.invite(); err != nil {
		d.ends(Failed, 0, err)
		return
	}
	sent := time.Now()
	takesBack := func(s State, why error) {
		d.ends(s, 0, why)
		if d.heard { // else with the first answer: RFC 3261 section 9.1
			d.cancel()
		}
	}
	for range maxAnswers {
		select {
		case <-ended:
			ended = nil
			takesBack(Canceled, errors.New("this server has ended the call"))
		case <-ringing.C:
			if d.heard {
				takesBack(NoAnswer, errors.New("nobody has answered in time"))
			} else {
				takesBack(Failed, errors.New("the trunk does not answer"))
				d.silent(sent)
			}
		case <-gone.C:
			d.route.invite.Terminate()
			return
		case <-d.route.invite.Done():
			d.ends(Failed, 0, errors.New("the trunk does not answer"))
			d.silent(sent)
			return
		case res := <-d.route.invite.Responses():
			for len(d.call.early) > 0 {
				d.provisional(<-d.call.early)
			}
			if !res.IsProvisional() && d.final(res) {
				return
			}
		}
	}
	d.ends(Failed, 0, errors.New("the trunk sends too many answers"))
	d.cancel()
	d.route.invite.Terminate()
}

// silent closes the connection to the trunk if nothing has come over it since a time: the next call opens another one.
func (d *dialing) silent(since time.Time) {
	switch s := d.call.server; d.call.invite.Transport() {
	case TCP:
		s.tcpOut.Silent(d.call.peer, since)
	case TLS:
		s.tlsOut.Silent(d.call.peer, since)
	}
}

// invite sends the INVITE.
func (d *dialing) invite() error {
	return d.dialog.Invite(context.Background(), sipgo.ClientRequestBuild)
}

// early notes a provisional answer for the call that is placed. The transport calls it for each message, in the order in which they come, and before sipgo's transactions:
// they take each answer in a goroutine of its own, and drop a provisional one after the last.
func (s *Server) early(m sip.Message) {
	res, ok := m.(*sip.Response)
	if !ok || !res.IsProvisional() || res.CSeq() == nil || res.CallID() == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[res.CallID().Value()]; c != nil {
		select {
		case c.early <- res:
		default: // it has more than it reads
		}
	}
}

// provisional takes an answer that is not the last.
func (d *dialing) provisional(res *sip.Response) {
	if *res.CSeq() != *d.dialog.InviteRequest.CSeq() {
		return // of the INVITE without credentials, or of the CANCEL
	}
	if d.over && !d.heard {
		d.cancel()
	}
	d.heard = true
	if len(res.Body()) > 0 {
		d.early = res.Body()
	}
	switch {
	case res.StatusCode == sip.StatusRinging:
		d.tell(Ringing, res.StatusCode)
	case res.StatusCode > sip.StatusTrying && len(res.Body()) > 0:
		d.tell(EarlyMedia, res.StatusCode)
	}
}

// final takes a final answer. It reports false if another one follows, because credentials were sent.
func (d *dialing) final(res *sip.Response) bool {
	switch status := res.StatusCode; {
	case res.IsSuccess():
		if err := d.confirm(res); err != nil {
			d.ends(Failed, status, err)
		}
	case status == sip.StatusUnauthorized || status == sip.StatusProxyAuthRequired:
		err := d.authorise(res)
		if err == nil {
			return false
		}
		d.ends(Failed, status, err)
	case status == sip.StatusBusyHere || status == sip.StatusGlobalBusyEverywhere:
		d.ends(Busy, status, errors.New("the telephone is busy"))
	case status == sip.StatusRequestTimeout || status == sip.StatusTemporarilyUnavailable:
		d.ends(NoAnswer, status, errors.New("nobody answers"))
	case status == sip.StatusGlobalDecline || status == unwanted:
		d.ends(Declined, status, errors.New("the telephone has declined"))
	default:
		d.ends(Failed, status, fmt.Errorf("the trunk answers %d %.60q", status, res.Reason))
	}
	return true
}

// unwanted is the status of RFC 8197.
const unwanted = 607

// authorise sends the INVITE again, with the answer to a challenge.
func (d *dialing) authorise(res *sip.Response) error {
	asks, shows := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		asks, shows = "Proxy-Authenticate", "Proxy-Authorization"
	}
	o := d.call.trunk.Out
	d.tries++
	switch {
	case d.over:
		return errors.New("the call is over")
	case o.Password == "":
		return errors.New("the trunk asks for a password: give out: user and key_env or key_file")
	case d.tries > maxChallenges:
		return errors.New("the trunk refuses the user and the password under out")
	}
	err := errors.New("the trunk asks for a password in no way that this server knows")
	for _, h := range res.GetHeaders(asks) {
		var challenge *digest.Challenge
		if challenge, err = digest.ParseChallenge(h.Value()); err != nil {
			continue
		}
		challenge.Algorithm = strings.ToUpper(challenge.Algorithm)
		r := d.dialog.InviteRequest.Clone() // the transaction before still repeats its ACK
		var shown *digest.Credentials
		shown, err = digest.Digest(challenge, digest.Options{Method: string(sip.INVITE), URI: r.Recipient.Addr(), Username: o.User, Password: o.Password})
		if err != nil {
			continue
		}
		r.RemoveHeader("Via")
		r.RemoveHeader(shows)
		r.AppendHeader(sip.NewHeader(shows, shown.String()))
		r.CSeq().SeqNo++
		d.dialog.InviteRequest, d.heard = r, false
		return d.invite()
	}
	return err
}

// cancel takes the INVITE back. The final answer to it still comes.
func (d *dialing) cancel() {
	invite := d.dialog.InviteRequest
	r := sip.NewRequest(sip.CANCEL, invite.Recipient)
	for _, h := range []sip.Header{invite.Via(), invite.From(), invite.To(), invite.CallID()} {
		r.AppendHeader(sip.HeaderClone(h))
	}
	r.AppendHeader(&sip.CSeqHeader{SeqNo: invite.CSeq().SeqNo, MethodName: sip.CANCEL})
	r.SetTransport(invite.Transport())
	d.call.server.serving.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), acksWithin)
		defer cancel()
		_, _ = d.dialog.UA.Client.Do(ctx, r) // the answer to the INVITE says what has become of it
	})
}

// confirm takes the answer of a telephone. A call that is over by now is hung up.
func (d *dialing) confirm(res *sip.Response) (err error) {
	c := d.call
	if d.dialog.ID, err = sip.DialogIDFromResponse(res); err != nil {
		return err
	}
	d.dialog.InviteResponse = res
	c.changes.Lock() // a change that comes at once waits until there is a link
	defer c.changes.Unlock()
	ours, _ := c.invite.From().Params.Get("tag")
	theirs, _ := res.To().Params.Get("tag")
	listed := c.server.lists(c, sip.DialogIDMake(c.invite.CallID().Value(), ours, theirs)) // as the requests of the telephone have it
	if err := d.dialog.Ack(context.Background()); err != nil {
		return err
	}
	body := res.Body()
	if len(body) == 0 {
		body = d.early
	}
	switch err = c.stream.Answered(body); {
	case err != nil:
	case !listed || d.over:
		err = errors.New("the call was over before it was answered")
	default:
		err = c.decide(d.link)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
		defer cancel()
		return errors.Join(err, d.dialog.Bye(ctx))
	}
	d.tell(Answered, res.StatusCode)
	c.stream.Drop()
	c.stream.Listen(d.link)
	c.timer.start(func() {
		d.link.Ended(fmt.Errorf("sip: the telephone has not refreshed the call: %w", link.ErrUnreachable))
	})
	d.link.Begin()
	d.link.Hold(c.stream.Held())
	return nil
}

// far returns the address of the other side within the call.
func (c *Call) far() sip.Uri {
	if d, out := c.dialog.(*sipgo.DialogClientSession); out {
		if contact := d.InviteResponse.Contact(); contact != nil {
			return contact.Address
		}
		return c.invite.Recipient
	}
	return c.invite.Contact().Address
}
