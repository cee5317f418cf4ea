// Package transcription is the machine of the recogniser's stream for one turn. The stream
// recognises text while the user speaks. When the turn is committed, it gives the final
// text. A session runs three of these machines (docs/decisions/003): for the open turn, for
// the turn that was committed last, and for the turn before that. The next turn may begin
// before the text of a committed turn has come.
//
// # Invariants
//
//   - OneStreamATurn: the machine has one stream at a time, of one turn. It opens no stream while it still owes a text. The state and the
//     monitor agree on the turn.
//   - EOUNotLost: the state keeps an end of utterance until words come after it or the stream ends.
//   - UnavailableIsSticky: if the back end refuses the stream of an open turn, the machine asks it for no other stream in this session. The
//     machine says so once (Degrade).
//   - EveryFinishIsAnswered: a turn whose audio has ended gets its text or a failure, once. This includes a turn that was committed without a
//     stream.
//   - WordsAreTriedTwice: if a stream is refused or breaks after its audio has ended, the whole audio is decoded once. The turn gets a failure
//     only if this decoding fails.
//   - NoStreamIsLeft: a stream or a decoding that is no longer wanted is closed, once. One that has ended by itself is not closed.
//   - StaleIsHarmless: an event of another turn changes nothing.
//
// Liveness: OpeningEnds and FinalizingEnds. They assume that a back end that owes a stream
// or a text answers, or that the driver's deadline reports Failed.
//
// # Contract with the driver
//
// The driver answers OpenStream with Ready, Refuse or Failed. The last report of a stream is
// Refuse, Failed or Done. The driver reports nothing of a stream after that, or after
// CloseStream. It answers CloseInput and DecodeWhole with Done, Failed or Refuse before a
// deadline of its own: a back end that hangs has failed. The driver keeps the turn's audio
// until DeliverText or DeliverFailure, so that it can perform DecodeWhole at any time.
//
// When a turn is committed, the composition moves the turn's stream from the machine of the
// open turn to the machine of the turn committed last, which gets Finish. If there is no
// stream (it broke, or there is no live transcription), that machine gets Decode. When words
// come after an end of utterance, the driver reports Resumed. Done's Empty says that the text
// has no words.
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA): for each committed item come
// conversation.item.input_audio_transcription.delta while the audio is transcribed, and then exactly
// one of completed and failed. The live back end's protocol: ready or
// unimplemented first, then deltas with end-of-utterance marks, and a final result
// after the input is closed.
//
// # Where it departs from a simpler machine
//
// To decode only after the commit, the states idle and busy would be enough. Opening exists
// because a turn can end before its stream is open. Unavailable exists because each turn would
// have to wait if the machine asked again at every turn. A refusal that comes after the commit
// does not lead to Unavailable: nothing waited for that stream, and the next turn asks again. An
// end of utterance is a field of the state and not a message, because a full channel would drop
// the message.
package transcription
