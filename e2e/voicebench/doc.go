// Command voicebench measures how well Antiphon tells sounds apart, and people: `make bench-listening PARTS=sounds,people` runs it. It prints tables in
// Markdown.
//
// It uses Debian's packages asterisk-core-sounds-{en,es,fr,it,ru}-g722 (people who speak prompts for telephone systems), as far as they are
// installed, and asterisk-moh-opsound-g722 (music).
package main
