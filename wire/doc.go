// Package wire has the messages of the Realtime protocol and their codec, for both ends of the call.
//
// Each event is a struct, and a pointer to it is a ServerEvent or a ClientEvent: [AppendServer] and [AppendClient] write events,
// [DecodeServer] and [DecodeClient] read them. The objects in events are structs too: [Session], [Item], [Response] and so on. What an
// object's fields mean is documented at its type; a field that is a pointer or a [Raw] can be absent or null.
//
// # What a reader can rely on
//
// The package checks a whole message before it reads values from it. An error is a [*DecodeError]. It has the path of the field, and the
// event_id if that could be read. [DecodeError.Event] returns the error event to send. Unknown fields are skipped. Of two members with the
// same name the last one counts. No input makes the package panic. Nesting and lists have limits; the caller limits the size of a message.
// The package checks values against the ranges of the protocol in messages of clients and in [Session.Merge], and not in messages of
// servers.
//
// # What a writer can rely on
//
// Each message is one line of valid JSON in UTF-8. It has all keys that the protocol requires, because clients fail on missing keys; a key
// without a value is null. Numbers with a fraction keep 15 significant digits.
//
// # How it is made
//
// The package is part of the program in the browser, so it does not import fmt, encoding/json, reflect and strconv, which are large. Each
// object names its fields once, for reading and writing, in its method fields. codec.go, read.go and write.go loop over these names.
//
//	events.table           all events, one row each; internal/gen makes the *_gen.go files of it
//	event.go, envelope.go  the entry points; type and event_id
//	members.go             the other entry point: reads single members of a server's event, for small clients
//	writer.go              the JSON writer
//	session.go, item.go, response.go, objects.go   the objects; *_fields.go has their fields and the checks of their values
//	merge.go, check.go     session.update, and the checks of clients' values
//	scan.go, text.go, number.go, base64.go   JSON itself
//	nested.go              the objects that come in lists or may be nil
//
// A new event is a new row in events.table and its example in testdata; then run go generate. A new object is a struct with a method
// fields, and a case in nested.go if it comes in lists or may be nil.
package wire

//go:generate go run ./internal/gen
