// Package strict reads YAML files into Go structs, and makes the JSON Schema of such a struct. It takes a key that the struct does not
// have for a mistake, and reports all mistakes of a file together, each with its line, its column and what would be right.
//
// The keys of a struct are its exported fields. These tags of a field describe it:
//
//	yaml:"name"       the key; without it, the tag name, or the name of the field in kebab case (MaxSessions: max-sessions). "-": no key
//	doc:"…" help:"…"  what the key means, for the schema
//	enum:"a,b"        the values that are allowed
//	min:"0" max:"1m"  the bounds of a number or a duration, both included; for a list, max is the most entries
//	type:"path"       a path; a relative one is made relative to Options.Dir, and ~ is the user's folder
//	type:"existingfile"  the path of a file that must be there
//	required:""       the key may not be left out, and its text not be empty
//
// The fields of an embedded struct are keys of the struct around it. A key with the value null counts as left out. A list of texts may
// be written as one text.
package strict
