package assistant

// This file makes conversation and tells the time.

import (
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/spell"
)

// abilities is the sentence that says what the assistant can do.
const abilities = "I can count, do sums, tell you the time, repeat what you say, and tell you a story."

// wayOn is the sentence that says how to get an agent that can do more.
const wayOn = "I am the small assistant that is built in. For other questions this server can use a language model: type antiphon setup where it runs."

// smallTalk has answers to common phrases. The first row with a phrase that the user has said is the answer.
func smallTalk(w []string) (string, bool) {
	for _, t := range []struct {
		answer  string
		phrases []string
	}{
		{"I am a small assistant that lives inside this server. I need no network to talk to you.", []string{"who are you", "what are you", "your name"}},
		{abilities + " You can interrupt me at any time. " + wayOn, []string{"what can you do", "what can i say", "help", "can you do"}},
		{"I am well, thank you. How are you?", []string{"how are you", "how do you do"}},
		{"That is good to hear.", []string{"i am fine", "i'm fine", "i am good", "i'm good", "i am well"}},
		{"You are welcome.", []string{"thank you", "thanks"}},
		{"Goodbye! It was nice to talk to you.", []string{"goodbye", "good bye", "bye", "see you"}},
		{"Good morning to you.", []string{"good morning"}},
		{"Good evening to you.", []string{"good evening"}},
		{"Yes, I hear you well.", []string{"can you hear me", "do you hear me"}},
		{"All right. I am listening.", []string{"stop", "wait", "quiet", "enough", "never mind", "hold on", "be quiet"}},
		{"Hello! " + abilities + " What can I do for you?", []string{"hello", "hi", "hey", "hallo"}},
		{"Good.", []string{"yes", "okay", "ok", "sure"}},
		{"All right.", []string{"no"}},
	} {
		if hasAny(w, t.phrases...) {
			return t.answer, true
		}
	}
	return "", false
}

// echo answers "repeat after me …" and "say …".
func echo(w []string) (string, bool) {
	for _, p := range []string{"repeat after me", "repeat", "say"} {
		if i := index(w, p); i >= 0 && i <= 2 {
			rest := w[i+len(strings.Fields(p)):]
			if len(rest) > 0 {
				return capital(strings.Join(rest, " ")) + ".", true
			}
		}
	}
	return "", false
}

// timer says that there are no timers: the assistant speaks only when it is asked.
func timer(w []string) (string, bool) {
	if hasAny(w, "timer", "alarm", "remind me", "wake me") {
		return "I cannot set timers: I speak only when I am spoken to, so I could not ring. But I can count for you.", true
	}
	return "", false
}

// clock answers the time and the date.
func (m *model) clock(w []string) (string, bool) {
	now := m.now()
	switch {
	case hasAny(w, "what time", "the time", "what's the time", "how late"):
		return "It is " + sayTime(now) + ".", true
	case hasAny(w, "what day", "what date", "the date", "today's date", "what is today", "day is it"):
		return "Today is " + now.Format("Monday, January") + " " + spell.Ordinal(int64(now.Day())) + ".", true
	case hasAny(w, "what month", "month is it"):
		return "It is " + now.Format("January") + ".", true
	case hasAny(w, "what year", "year is it"):
		return "It is the year " + spell.Cardinal(int64(now.Year())) + ".", true
	}
	return "", false
}

func sayTime(t time.Time) string {
	hour := int64(t.Hour()+11)%12 + 1
	half := "in the morning"
	switch {
	case t.Hour() >= 18:
		half = "in the evening"
	case t.Hour() >= 12:
		half = "in the afternoon"
	}
	minute := int64(t.Minute())
	switch {
	case minute == 0:
		return spell.Cardinal(hour) + " o'clock " + half
	case minute < 10:
		return spell.Cardinal(hour) + " oh " + spell.Cardinal(minute) + " " + half
	}
	return spell.Cardinal(hour) + " " + spell.Cardinal(minute) + " " + half
}

func joke(w []string) (string, bool) {
	if !hasAny(w, "joke", "jokes", "something funny") {
		return "", false
	}
	return "Two microphones meet. Says the one: I did not catch that. Says the other: neither did I, but I am ninety percent sure of it.", true
}
