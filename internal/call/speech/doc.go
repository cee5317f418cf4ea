// Package speech is what a session knows of the user's speech: each turn with its recognition, captions and transcript, and the
// recordings that a client puts into the conversation.
//
// A Speech owns all of that. Its methods are called by the session's actor, which performs what they return: events for the
// client, steps of the machines, and texts for the conversation's items. The recogniser runs on goroutines, one for each
// recognition. What they report are Events, which Config.Post carries to the actor's queue; the actor gives them back to Handle.
package speech
