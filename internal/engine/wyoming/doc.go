// Package wyoming calls the speech services of the Wyoming protocol, as Home Assistant has them: recognisers such as
// wyoming-faster-whisper, and synthesizers such as wyoming-piper.
//
// The protocol is a stream of events over TCP or a Unix socket. An event is a line of JSON, then JSON data, then a payload of audio:
//
//	{"type":"audio-chunk","data_length":41,"payload_length":2048}\n
//	{"rate":16000,"width":2,"channels":1}
//	2048 bytes of PCM
//
// The protocol has no authentication and no encryption. Use it on this machine or in a network that you trust.
//
// Source: https://github.com/OHF-Voice/wyoming, version 1.8.
package wyoming
