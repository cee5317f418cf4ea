// Package page binds package sdk to the script of a web page (sdk/npm).
//
// The script defines an object with the name antiphonHost while it starts this program, and removes the object afterwards. This program
// calls the object's method ready with two functions. connect(options, begun, sink) begins a call and returns a function,
// do(command, ...), with which the script gives commands. The program reports events to sink(kind, ...). usage() returns how many
// functions the browser could call. After the call has begun, both sides pass only numbers, booleans and texts. A snapshot is one JSON
// text; its transcript begins at the first entry that has changed.
//
// The script must handle each report to sink in a later task, after sink has returned, because a program of TinyGo cannot be called
// again from within its own call.
package page
