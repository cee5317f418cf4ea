// Package wire has the messages of the Realtime protocol and their codec, for both ends of the call.
//
// Each event is a struct, and a pointer to it is a ServerEvent or a ClientEvent: [AppendServer] and [AppendClient] write events,
// [DecodeServer] and [DecodeClient] read them. The objects in events are structs too: [Session], [Item], [Response] and so on. What an
// object's fields mean stands with its type; what is pointer or [Raw] can be absent or null.
//
// # What a reader can rely on
//
// A message is checked as a whole before anything of it is used. What is wrong with it comes as a [*DecodeError], with the path of the
// field and the sender's event_id wherever it could be read, and [DecodeError.Event] makes the answer. Unknown fields are skipped, of two
// members with one name the last counts, and no input makes the package panic. Nesting and lists are limited; the size of a message is for
// the caller to limit. Values are checked against the protocol's ranges in a client's messages and in [Session.Merge], and not in a
// server's.
//
// # What a writer can rely on
//
// Every message is one line of valid JSON in UTF-8 with all keys that the protocol requires, null where there is nothing to say: clients fail
// on keys that are missing. Numbers with a fraction keep 15 significant digits.
//
// # How it is made
//
// The package is part of the browser's program, so it does without fmt, encoding/json, reflect and strconv. Every object names its fields
// once, for reading and writing, in its method fields; the loop over these descriptions is in codec.go, read.go and write.go.
//
//	events.table           all events, one row each; internal/gen makes the *_gen.go files of it
//	event.go, envelope.go  the entry points; type and event_id
//	members.go             the other entry point: a server's event member by member, for a client that wants little of it
//	session.go, item.go, response.go, objects.go   the objects; *_fields.go what they look like and what clients may put into them
//	merge.go, check.go     session.update, and the checks of clients' values
//	scan.go, text.go, number.go, base64.go   JSON itself
//	nested.go              the objects that come in lists or may be nil
//
// A new event is a new row in events.table and its example in testdata; then run go generate. A new object is a struct with a method
// fields, and a case in nested.go if it comes in lists or may be nil.
package wire

//go:generate go run ./internal/gen
