// Package script says which characters are of scripts that write no spaces between words.
package script

// This file has the ranges of the scripts.

// Unspaced reports whether a character belongs to a script that writes no spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. Their
// punctuation does not. The ranges are the blocks of Unicode, because the tables of package unicode would weigh more in the browser.
func Unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, // Thai, Lao
		r >= 0x1000 && r <= 0x109f,                               // Burmese
		r >= 0x1780 && r <= 0x17ff,                               // Khmer
		r >= 0x2e80 && r <= 0x2fdf,                               // radicals
		r >= 0x3005 && r <= 0x3007,                               // iteration mark, zero
		r >= 0x3031 && r <= 0x3035 || r == 0x303b || r == 0x303c, // other iteration marks
		r >= 0x3041 && r <= 0x30ff && r != 0x30fb,                // Hiragana and Katakana, with the mark of a long vowel
		r >= 0x31f0 && r <= 0x31ff,                               // small Katakana
		r >= 0x3400 && r <= 0x4dbf,                               // Chinese characters
		r >= 0x4e00 && r <= 0x9fff,
		r >= 0xf900 && r <= 0xfaff,
		r >= 0xff66 && r <= 0xff9f, // narrow Katakana
		r >= 0x20000 && r <= 0x3ffff:
		return true
	}
	return false
}
