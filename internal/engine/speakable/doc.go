// Package speakable turns the text of a model into words that a synthesizer can say.
//
// Models write for a screen: Markdown, links, code, tables, symbols, units. A [Reader] reads such a text clause by clause. It leaves
// out the marks, keeps the words, and, for English, writes symbols, units and dates as words. It does not change plain numbers:
// synthesizers read them in their own language.
package speakable
