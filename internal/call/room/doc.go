// Package room has what the rooms of a call share: the actions that a room asks the actor to perform, the failures that a client gets, the formats of audio, and
// the times of a turn. A room returns its actions in order, and the actor performs them in that order.
package room
