// Package sip answers telephone calls: SIP over UDP, TCP and TLS, with sipgo. Package audio has the sound.
//
// # Who may call
//
// A trunk is who may call: machines with certain addresses, or who knows a user and a password. A message over UDP that comes from neither is answered or dropped
// before sipgo sees it: an INVITE without credentials costs one calculation and one answer of at most its own size, and leaves nothing behind. A connection over TCP or TLS
// of a stranger may send a few messages within some seconds.
//
// # A call
//
// A Call rings until Config.Ring decides. Ring is called in a goroutine of the INVITE, with a Call that is a phone.Transport. It calls Accept, or Reject. After Accept the
// caller's link ends the call with HangUp, which is bounded.
package sip
