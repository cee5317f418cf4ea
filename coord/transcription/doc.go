// Package transcription is one stream of a turn's audio into words: live while the
// user speaks, finalised when the turn is committed. A session runs two machines of it
// (docs/decisions/003): one for the turn that is open and one for the turn that was
// committed and whose text is still on its way, since the next turn may begin before.
//
// # Invariants
//
//   - OneStreamATurn: one stream at a time, of one turn, and none beside a text that is owed.
//   - EOUNotLost: an end of utterance is state until speech goes on or the stream ends.
//   - UnavailableIsSticky: a back end that refuses an open turn's stream is asked no more in
//     this session, and that is said once.
//   - EveryFinishIsAnswered: a turn whose audio has ended gets its text or a failure, once.
//   - WordsAreTriedTwice: a stream that breaks costs no words, its whole audio is decoded.
//   - NoStreamIsLeft: what is not wanted any more is given up, once.
//   - StaleIsHarmless: another turn's event changes nothing.
//
// Liveness, where a back end that owes a stream or a text answers or is failed by the
// deadline: OpeningEnds and FinalizingEnds.
//
// # Contract with the driver
//
// OpenStream owes Ready, Refuse or Failed; a stream's last word is one of Refuse, Failed
// and Done, and nothing of it is reported after that or after CloseStream. CloseInput and
// DecodeWhole owe a Done, a Failed or a Refuse, by a deadline of the driver's: a back end
// that hangs has failed. The turn's audio is kept until DeliverText or DeliverFailure,
// so that DecodeWhole can be performed at any time. When a turn is committed, its
// machine gets Finish where it is Opening or Streaming, and otherwise (its stream broke,
// or there is no live transcription) the second machine gets Decode. Words that come after an end of
// utterance are Resumed. Done's Empty says that the text has no words.
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA): input audio is transcribed beside the conversation,
// conversation.item.input_audio_transcription.delta while it goes on, then exactly one
// of completed and failed for each committed item. The live back end's protocol: ready or
// unimplemented first, then deltas with end-of-utterance marks, and a final result
// after the input is closed.
//
// # Where it departs from a simpler machine
//
// Idle and busy would do for decoding after the commit. Opening exists because a turn can
// be over before its stream is there, Unavailable because asking again at every turn
// would cost each turn the wait. A refusal that comes after the commit makes nothing
// unavailable: nobody waited for that stream, and the next turn asks again. An end of
// utterance is a field and no message, because a channel that is full would drop it.
package transcription
