// Package voicebench measures how well Antiphon tells sounds apart, and people, with Go benchmarks: `make bench-listening PARTS=sounds,people` runs them.
//
// They use Debian's packages asterisk-core-sounds-{en,es,fr,it,ru}-g722 (people who speak prompts for telephone systems), as far as they are
// installed, and asterisk-moh-opsound-g722 (music).
package voicebench
