package speakable

// English words for symbols, units, dates and addresses.

import (
	"regexp"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/spell"
)

// rule replaces what a pattern finds. to gets the whole match and its groups.
type rule struct {
	pattern *regexp.Regexp
	to      func(m []string) string
}

func replace(pattern, text string) rule {
	p := regexp.MustCompile(pattern)
	return rule{p, func(m []string) string {
		return string(p.ExpandString(nil, text, m[0], p.FindStringSubmatchIndex(m[0])))
	}}
}

func rewrite(pattern string, to func(m []string) string) rule {
	return rule{regexp.MustCompile(pattern), to}
}

// units has the names of units for one and for many, by their symbols. A unit counts only directly behind a number.
var units = map[string][2]string{
	"km": {"kilometer", "kilometers"}, "m": {"meter", "meters"}, "cm": {"centimeter", "centimeters"}, "mm": {"millimeter", "millimeters"},
	"km²": {"square kilometer", "square kilometers"}, "m²": {"square meter", "square meters"}, "m³": {"cubic meter", "cubic meters"},
	"kg": {"kilogram", "kilograms"}, "g": {"gram", "grams"}, "mg": {"milligram", "milligrams"}, "µg": {"microgram", "micrograms"},
	"l": {"liter", "liters"}, "L": {"liter", "liters"}, "ml": {"milliliter", "milliliters"}, "mL": {"milliliter", "milliliters"},
	"km/h": {"kilometer per hour", "kilometers per hour"}, "m/s": {"meter per second", "meters per second"},
	"mph": {"mile per hour", "miles per hour"}, "ft": {"foot", "feet"}, "lb": {"pound", "pounds"}, "lbs": {"pound", "pounds"}, "oz": {"ounce", "ounces"},
	"B": {"byte", "bytes"}, "kB": {"kilobyte", "kilobytes"}, "KB": {"kilobyte", "kilobytes"}, "MB": {"megabyte", "megabytes"},
	"GB": {"gigabyte", "gigabytes"}, "TB": {"terabyte", "terabytes"}, "Mbps": {"megabit per second", "megabits per second"},
	"Hz": {"hertz", "hertz"}, "kHz": {"kilohertz", "kilohertz"}, "MHz": {"megahertz", "megahertz"}, "GHz": {"gigahertz", "gigahertz"},
	"W": {"watt", "watts"}, "kW": {"kilowatt", "kilowatts"}, "kWh": {"kilowatt hour", "kilowatt hours"}, "V": {"volt", "volts"},
	"ms": {"millisecond", "milliseconds"}, "µs": {"microsecond", "microseconds"}, "s": {"second", "seconds"}, "min": {"minute", "minutes"},
	"h": {"hour", "hours"}, "hr": {"hour", "hours"}, "hrs": {"hour", "hours"}, "dB": {"decibel", "decibels"}, "px": {"pixel", "pixels"},
	"%": {"percent", "percent"}, "‰": {"per mille", "per mille"}, "°": {"degree", "degrees"},
	"°C": {"degree Celsius", "degrees Celsius"}, "°F": {"degree Fahrenheit", "degrees Fahrenheit"},
}

// currencies has the names of currencies and of their hundredths, for one and for many.
var currencies = map[string][4]string{
	"$": {"dollar", "dollars", "cent", "cents"}, "€": {"euro", "euros", "cent", "cents"},
	"£": {"pound", "pounds", "penny", "pence"}, "¥": {"yen", "yen", "", ""},
}

// number is a number with thousands and decimals; space is a space that may not break.
const (
	number = `\d+(?:,\d{3})*(?:\.\d+)?`
	space  = `[ \x{a0}\x{202f}]?`
)

// rules are applied one after the other. Longer forms come before those that are a part of them.
var rules = []rule{
	rewrite(`\bhttps?://(?:www\.)?([^\s/?#]+)[^\s,;!)\]]*[^\s,;!).\]]|\bhttps?://([^\s/?#]+)`, func(m []string) string { return dots(m[1] + m[2]) }),
	rewrite(`\bwww\.([^\s/]+\w)(?:/\S*\w)?`, func(m []string) string { return dots(m[1]) }),
	rewrite(`\b([\w.+-]+)@(\w[\w-]*(?:\.\w[\w-]*)+)`, func(m []string) string { return dots(m[1]) + " at " + dots(m[2]) }),
	rewrite(`\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b`, date),
	rewrite(`\b([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?\b(`+space+`[AaPp]\.?[Mm]\b\.?)?`, clock),
	rewrite(`([$€£¥])(\d+)\s?[–—]\s?[$€£¥]?(\d+)`, func(m []string) string { return m[2] + " to " + m[3] + " " + currencies[m[1]][1] }),
	rewrite(`([$€£¥])`+space+`(`+number+`)(`+space+`(?:thousand|million|billion|trillion|[kKMB]\b))?`, money),
	rewrite(`\b(`+number+`)`+space+`([$€£¥])`, func(m []string) string { return money([]string{"", m[2], m[1], ""}) }),
	replace(`(\d)\s?[–—]\s?([$€£¥]?\d)`, "$1 to $2"),
	rewrite(`(`+number+`)`+space+`(km/h|m/s|km²|m²|m³|kWh|°C|°F|Mbps|[kKMGT]B|[kMG]?Hz|km|cm|mm|kg|mg|µg|µs|ms|ml|mL|mph|min|hrs|hr|ft|lbs|lb|oz|kW|dB|px|[%‰°])(\z|[^\pL\pN])`, unit),
	rewrite(`(`+number+`)[ \x{a0}\x{202f}]([mglLhsBWV])(\z|[^\pL\pN])`, unit),
	replace(`\b24/7\b`, "24 7"),
	rewrite(`(?:\b(\d+) ?)?([½¼¾⅓⅔])|\b(?:(\d+) )?(1/2|1/4|3/4|1/3|2/3)(\b)`, fraction),
	replace(`(\pL|\d)²`, "$1 squared"),
	replace(`(\pL|\d)³`, "$1 cubed"),
	replace(`(\d)\^(-?\d+)`, "$1 to the $2"),
	rewrite(`\bv?\d+(?:\.\d+){2,}\b`, func(m []string) string { return strings.ReplaceAll(strings.TrimPrefix(m[0], "v"), ".", " point ") }),
	replace(`\be\.g\.,?`, "for example"),
	replace(`\bi\.e\.,?`, "that is"),
	replace(`\betc\.(\s+\p{Lu}|\s*\z)`, "et cetera.$1"),
	replace(`\betc\.`, "et cetera"),
	replace(`\bvs\.?(\s)`, "versus$1"),
	replace(`\bapprox\.`, "approximately"),
	replace(`#(\d)`, "number $1"),
	replace(`[~≈]\s?(\d)`, "about $1"),
	replace(`±\s?`, "plus or minus "),
	replace(`(\s)-(\d)`, "${1}minus $2"),
	replace(`^-(\d)`, "minus $1"),
	replace(`\s?×\s?`, " times "),
	replace(`(\d)\s?\*\s?(\d)`, "$1 times $2"),
	replace(`\s?÷\s?`, " divided by "),
	replace(`(\s)\+(\s)`, "${1}plus$2"),
	replace(`(\d)\+(\d)`, "$1 plus $2"),
	replace(`(\s)=(\s)`, "${1}equals$2"),
	replace(`(\s)<(\s)`, "${1}is less than$2"),
	replace(`(\s)>(\s)`, "${1}is greater than$2"),
	replace(`\s?≤\s?`, " is at most "),
	replace(`\s?≥\s?`, " is at least "),
	replace(`\s?[→⇒]\s?`, ", then "),
	replace(`(\pL)\(\)`, "$1"),
	replace(`(\pL|\d)_(\pL|\d)`, "$1 $2"),
	replace(`\s&\s`, " and "),
	replace(`(\w)&(\w)`, "$1 and $2"),
	replace(`©|®|™`, ""),
}

// english returns a text with words for symbols, units, dates and addresses.
func english(text string) string {
	if strings.IndexFunc(text, func(c rune) bool {
		return c < 'A' && c != ' ' && c != ',' && c != '.' || c > 'z' || c == '_' || c == '^'
	}) < 0 && !strings.Contains(text, ".") {
		return text // words alone
	}
	for _, r := range rules {
		if !r.pattern.MatchString(text) {
			continue
		}
		text = replaceAll(r, text)
	}
	return text
}

func replaceAll(r rule, text string) string {
	var out strings.Builder
	last := 0
	for _, at := range r.pattern.FindAllStringSubmatchIndex(text, -1) {
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		out.WriteString(text[last:at[0]])
		out.WriteString(r.to(groups))
		last = at[1]
	}
	out.WriteString(text[last:])
	return out.String()
}

// dots says an address: "example.com" is "example dot com".
func dots(address string) string {
	return strings.NewReplacer(".", " dot ", "-", " dash ", "_", " underscore ", ":", " port ", "+", " plus ").Replace(address)
}

// date says an ISO date: "2026-11-02" is "November second, 2026".
func date(m []string) string {
	day, err := time.Parse(time.DateOnly, m[0])
	if err != nil {
		return m[0] // such as February 30
	}
	return day.Month().String() + " " + spell.Ordinal(int64(day.Day())) + ", " + m[1]
}

// clock says a time of day: "10:05" is "10 oh 5", and "10:00" is "10 o'clock".
func clock(m []string) string {
	hour, minute, half := strings.TrimPrefix(m[1], "0"), m[2], strings.ToLower(strings.NewReplacer(".", "", "\u00a0", "", "\u202f", "", " ", "").Replace(m[3]))
	if hour == "" {
		hour = "0"
	}
	switch {
	case half != "" && minute == "00":
		return hour + " " + half
	case minute == "00":
		return hour + " o'clock"
	case minute[0] == '0':
		minute = "oh " + minute[1:]
	}
	return strings.TrimSpace(hour + " " + minute + " " + half)
}

// money says an amount: "$5.50" is "5 dollars and 50 cents", and "$3 million" is "3 million dollars".
func money(m []string) string {
	names, amount, scale := currencies[m[1]], m[2], strings.Trim(m[3], " \u00a0\u202f")
	if long, is := map[string]string{"k": "thousand", "K": "thousand", "M": "million", "B": "billion"}[scale]; is {
		scale = long
	}
	if scale != "" {
		return amount + " " + scale + " " + names[1]
	}
	whole, cents, _ := strings.Cut(amount, ".")
	if cents != "" && (len(cents) != 2 || names[2] == "") {
		return amount + " " + names[1]
	}
	said := whole + " " + plural(whole, names[0], names[1])
	if cents = strings.TrimPrefix(cents, "0"); cents == "" || cents == "0" {
		return said
	}
	cents += " " + plural(cents, names[2], names[3])
	if whole == "0" {
		return cents
	}
	return said + " and " + cents
}

func plural(n, one, many string) string {
	if n == "1" {
		return one
	}
	return many
}

// unit says a number with its unit: "5 km" is "5 kilometers".
func unit(m []string) string {
	names := units[m[2]]
	return m[1] + " " + plural(m[1], names[0], names[1]) + m[3]
}

// fraction says "2½" or "2 1/2": "2 and a half".
func fraction(m []string) string {
	name := map[string]string{
		"½": "half", "¼": "quarter", "¾": "three quarters", "⅓": "third", "⅔": "two thirds",
		"1/2": "half", "1/4": "quarter", "3/4": "three quarters", "1/3": "third", "2/3": "two thirds",
	}[m[2]+m[4]]
	article := "a "
	if strings.HasSuffix(name, "s") {
		article = ""
	}
	if whole := m[1] + m[3]; whole != "" {
		return whole + " and " + article + name
	}
	return article + name
}
