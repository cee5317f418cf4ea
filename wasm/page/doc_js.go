// Package page binds package sdk to the script of a web page (sdk/npm).
//
// The script leaves an object with the name antiphonHost while it starts this program and takes it away again afterwards. Its
// method ready gets two functions. connect(options, begun, sink) begins a call and gives a function, do(command, ...), with
// which the script tells it what to do; what happens is told to sink(kind, ...). usage() says how many functions the browser could
// call. Both ways only numbers, booleans and texts are passed once the call is begun; a snapshot is one JSON text, in which
// the transcript is given from its first change on.
//
// What the script must see to: it handles what sink is told in a task of its own and not before sink has returned, since a program
// of TinyGo's cannot be entered again from there.
package page
