// Package browser places calls from a web page: it implements the interfaces of package sdk on the browser's own
// RTCPeerConnection, getUserMedia and <audio> element, through syscall/js.
package browser

import "syscall/js"

// Options say how calls are placed. All fields may be left out.
type Options struct {
	// URL is the server's, such as "https://voice.example". Empty is the page's own origin.
	URL string
	// Key is sent as a Bearer header. May be changed with Dialer.SetKey.
	Key string
	// Audio is an <audio> element to play the agent in. Undefined makes one that is not in the page.
	Audio js.Value
	// Stream is a MediaStream that is used as the microphone; the dialer does not stop its tracks. Undefined opens a device.
	Stream js.Value
	// ICEServers is an array of RTCIceServer. Undefined uses none.
	ICEServers js.Value
}
