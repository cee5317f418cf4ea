// Package stream has the telephones that come over a WebSocket: Asterisk's chan_websocket, and the media streams of Twilio and Telnyx. A Stream
// is a phone.Transport.
//
// Written from the documentation: docs.asterisk.org/Configuration/Channel-Drivers/WebSocket,
// twilio.com/docs/voice/media-streams/websocket-messages, and developers.telnyx.com/docs/voice/programmable-voice/media-streaming.
//
// Open reads until the telephone says who it is. Run then reads on the caller's goroutine until the call is over, and one goroutine writes.
package stream
