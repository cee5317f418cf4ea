// Package sphinx recognises English speech with the C library of pocketsphinx, which is opened at run time (no cgo), and the
// model en-us that distributions have as a package. It runs in a back-end process: the library ends its process when it does
// not like something.
//
// Three things are our own, since they decide whether a short spoken sentence is understood.
//
//   - The language model is the general one of the package, interpolated with a small one of what people say to the assistant
//     (phrases.txt). Without it "count to one hundred" is heard as "come to one hundred". All other words stay possible.
//   - The features are computed here (the test compares them with the library's own), with a floor for digital silence.
//   - The cepstral mean is learned from the utterance itself, before its first frame is decoded. The library would carry it
//     from one utterance into the next one, which may be of another call.
package sphinx
