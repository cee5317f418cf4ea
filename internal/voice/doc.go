// Package voice is the signal code that both ends share: voice activity, resampling, levels, PCM conversion and G.711.
//
// Everything here is pure: samples in, samples or a decision out. There is no clock (time is counted in samples), no
// goroutine, no lock, no random number and, in steady state, no allocation. A value belongs to one goroutine at a time.
//
// # Voice activity
//
// A [Detector] takes frames of 10 ms at 16 kHz (a [Resampler] and a [Framer] make them of anything else) and gives the
// probability that somebody speaks. Each frame it
//
//  1. takes the power spectrum of the last 32 ms through a window that is steep at the new end;
//  2. follows the noise floor of 72 channels: the minimum over 3.2 s (minimum statistics, R. Martin, "Noise power
//     spectral density estimation based on optimal smoothing and minimum statistics", 2001), or the mean of what is there
//     where a band has kept within 9 dB for 0.6 s and nothing in it was voiced, so that a new noise is learned within a second
//     and a long speech is not;
//  3. measures how periodic the rest is, from 70 to 400 Hz: the peak of the cosine transform of the magnitudes above the floor
//     (T. Tolonen and M. Karjalainen, "A computationally efficient multipitch analysis model", 2000), over that of the
//     window (P. Boersma, "Accurate short-term analysis of the fundamental frequency and the harmonics-to-noise ratio of a
//     sampled sound", 1993), added up over two or three frames;
//  4. discounts what has a period and is no voice: what repeats itself exactly (hum, tones), what is one tone, and what dies
//     away from its first moment (keys, knocks);
//  5. counts as unvoiced speech what has been above the floor for 120 ms while the shape of its spectrum kept changing:
//     whispering does, wind and breath do not. So whispers are found late, and an "s" only with the vowel after it;
//  6. turns that into a log-likelihood ratio and the ratios into a probability by a chain of two states (J. Sohn, N. S. Kim
//     and W. Sung, "A statistical model-based voice activity detection", 1999).
//
// Measured by hand, with 48 phrases of the speech synthesiser flite (voices kal16, awb, rms, slt), 13 recordings of people
// at 16 kHz and 13 at 8 kHz (test data of pocketsphinx, voice prompts of Asterisk), speech at -26 dBFS, threshold 0.5, after
// 3 s of silence or of the noise. The onset is that of sound less than 27 dB under the loud parts, and the latency goes to the
// end of the first frame with Speech; a part of it in noise is sound that the noise hides. Hangover is counted from the last
// such sound.
//
//	                         latency, median and 90 %   missed frames   hangover, median
//	no noise                      40 ms, 80 ms              5 %            70 ms
//	no noise, -45 dBFS            60 ms, 180 ms             9 %            60 ms
//	white noise at -20 dB         60 ms, 210 ms            12 %            60 ms
//	white noise at -10 dB         70 ms, 210 ms            16 %            20 ms
//	white noise at -5 dB          90 ms, 240 ms            25 %             0 ms
//	hum of 50 Hz at -20 dB        40 ms, 100 ms             4 %           110 ms
//	buzz of 100 Hz at -20 dB      60 ms, 180 ms             9 %            70 ms
//	whispered                    160 ms, 270 ms            20 %            70 ms
//
// Levels of noise are under that of the speech. No phrase was missed, and there was no Speech in the noise before or after
// one, but for a recording's own noise over the hum. The constants were fitted on a part of the same material, so expect
// somewhat less of other voices and rooms.
//
// Within a phrase of flite ("what is two plus two", "count to one hundred", "stop") Speech has no gap above 100 ms. Through
// Opus (32 kbit/s, with and without discontinuous transmission) the figures without noise stay the same.
//
// False alarms in a minute of synthetic noise at -45 to -20 dBFS, from the first sample or after digital silence: none for
// white, pink and brown noise, jumps of 12 dB, a fan with a modulated tone, hum of 50 and 60 Hz, tones, clicks, noise bursts
// and breath; 1 of 50 ms when a buzz of 100 or 120 Hz is switched on; 2 in gusts; 8 in 390 key strokes; 16 in 86 knocks on the
// desk; 28 in 54 coughs, those that end in voice. Typing faster than ten strokes a second is heard as speech a quarter of
// the time.
//
// A frame takes 4 us of one core, 19 us under wasm in Node (processor time, a machine with AMD EPYC cores; BenchmarkDetectorFrame
// beside a plain energy detector, which takes 0.1 and 0.4).
//
// # Echo
//
// An [Echo] compares the microphone with what is played, in bands of a third of an octave, and says of a frame whether the
// playback explains it. Measured with the synthetic voices of the tests, through a room with six reflections, 70 ms late: an
// echo 10 dB or more under the playback opened no onset of three frames in 20 s (one 6 dB under it 17, one as loud 61), and a
// user who began to speak over it at the playback's own level was found after 30 ms in the mean, as without an echo,
// 110 ms at most. A frame takes 10 us of one core (BenchmarkEchoFrame).
//
// # Other voices
//
// A [Talker] says which speech is the user's, by its level: people in the background are quieter. docs/benchmarks.md has the figures
// for a user and talk in the background, both human. It takes less than 100 bytes and next to no time.
//
// # Resampling
//
// A [Resampler] keeps what is under 0.85 of half the lower rate within 0.1 dB and what would alias or image 80 dB down. Its
// output has no offset in time, only latency: 36 samples of the lower rate (2.25 ms where that is 16 kHz). Ten milliseconds
// from 24 to 16 kHz take 6 us, from 48 to 16 kHz 11 us, and 31 us under wasm, measured as above.
package voice
