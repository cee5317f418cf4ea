// Package phone is the server's end of a telephone call: one link for all telephones. A Transport below it speaks to one telephone: SIP with
// RTP, Asterisk, or a provider's media stream.
//
// A Link paces the agent's audio: the transport gets one frame of 20 ms at a time, and the far side never has more than Traits.Ahead frames
// that it has not played. The link keeps the rest, so a response that was held continues without a lost word. A far side with a queue (Queue)
// is also stopped, told to continue, or emptied. Output.Sent is what the far side has played, as far as the link knows: by the clock, and by
// marks that come back from the far side (Marker).
//
// A telephone shows no events: Link.Send drops them. Side-band controllers get them.
//
// Begin starts one goroutine, which paces. Close joins it and then hangs up.
package phone
