// Package browser places calls from a web page: it implements the interfaces of package sdk on the browser's own
// RTCPeerConnection, getUserMedia and <audio> element.
//
// # Sound
//
// An AudioWorklet (sdk/npm/worklet.js) posts the sound of the microphone and of the agent's track in frames of 10 ms. The program
// finds speech over the agent in them (sdk.BargeInDetector) and measures the levels. A frame allocates nothing beyond what syscall/js
// allocates for a callback. A page without AudioWorklet, or whose policy blocks the worklet, has calls without both.
//
// # The page's part
//
// The steps that the browser takes are written in JavaScript (sdk/npm/host.js), and they are coarse. The page loads that script before
// the program starts, as antiphon-host.js or within the page's own script; it defines the object antiphonHost. The script also catches
// the browser's exceptions, which a program compiled by TinyGo cannot. It never calls this program while this program calls it.
package browser

import "syscall/js"

// Options say how calls are placed. All fields may be left out.
type Options struct {
	// URL is the server's, such as "https://voice.example". Empty is the page's own origin.
	URL string
	// Key is sent as a Bearer header. May be changed with Dialer.SetKey.
	Key string
	// WebSocket places the calls over a WebSocket, for networks that let no WebRTC through: the sound of both sides comes in
	// messages, the microphone must be allowed before the call is placed, and the worklet must load.
	WebSocket bool
	// Worklet is the address of the AudioWorklet's module. Empty is /antiphon-worklet.js of the server.
	Worklet string
	// Audio is an <audio> element to play the agent in. Undefined makes one that is not in the page.
	Audio js.Value
	// Stream is a MediaStream that is used as the microphone; the dialer does not stop its tracks. Undefined opens a device.
	Stream js.Value
	// ICEServers is an array of RTCIceServer. Undefined uses those that the server names.
	ICEServers js.Value
	// Begun is a call that the page's script has begun to place while this program was loading (sdk/npm/begin.js); the first Dial
	// takes it over. Undefined begins each call here.
	Begun js.Value
	// Log gets a line for each feature that does not work here and that the call does without. May be nil.
	Log func(line string)
}
