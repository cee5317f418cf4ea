// Package outgoing has what every link needs whose server paces the agent's audio (WebRTC, telephones): Audio decides which 20 ms of which
// response the next frame carries and keeps what was sent for a rewind, and Clock says when the frame is due.
package outgoing
