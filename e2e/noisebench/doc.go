// Command noisebench measures how Antiphon listens where it is not quiet. `make bench-listening` runs it. It prints tables in Markdown.
//
// The part noise counts the wrong words of the recognisers, with and without noise reduction. The part voices lets people talk in the background of
// a caller. The part calls places calls in noise, with a bad microphone, and over a bad network. The part over places a call in which the person speaks over the
// agent. All speech is that of a person: Debian's prompts for telephone systems.
package main
