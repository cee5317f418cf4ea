// Package journal keeps in a store what must survive the process that serves a call: the conversation, the settings, what is known of the client, and
// the server's events that a client may ask for again. Audio is never stored.
//
// A call has one log. Its owner, a Writer, appends Records. Who takes the call over appends a record with the next epoch. Each append names the entry before
// it, so the former owner's next append fails: it is fenced, and ends its session.
//
// A session gives a Writer its records and never waits for the store. The client gets an event only after the record that belongs to it is stored
// (output commit). So nothing that a client was told is lost. If the store takes too long, the events go out, and the call cannot be continued elsewhere until
// the Writer has stored the whole State again.
//
// State and Record do no I/O. The machine internal/coord/journal decides what may go to the client and what the store is asked for, and Writer carries it out.
package journal
