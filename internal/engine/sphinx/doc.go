// Package sphinx recognises English speech with the C library of pocketsphinx and the model en-us, which Linux distributions have as
// packages. It opens the library at run time, without cgo. It must run in a back-end process, because the library ends its process
// on some errors.
//
// This package does three things itself, because they decide whether a short spoken sentence is understood:
//
//   - The language model is the general one of the package, interpolated with a small one of what users say to the assistant
//     (phrases.txt). Without it "count to one hundred" is recognised as "come to one hundred". All other words stay possible: the
//     phrases decide only at the begin of a sentence and after two of their words.
//   - The features are computed here, with a noise floor for digital silence. A test compares them with those of the library.
//   - The cepstral mean is learned from the utterance itself, before its first frame is decoded. The library would carry it
//     from one utterance to the next one, which may belong to another call.
package sphinx
