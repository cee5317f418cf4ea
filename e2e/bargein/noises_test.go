package bargein

// The sounds that must not interrupt: coughs, clicks and the like, synthesized.

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// noises returns the sounds that must not interrupt, for each round.
func noises(ctx context.Context, rounds int) ([]noise, error) {
	uhHuh, err := rig.Speak(ctx, "uh huh")
	if err != nil {
		return nil, err
	}
	var all []noise
	for n := range rounds {
		chance := rand.New(rand.NewPCG(7, uint64(n)))
		all = append(all,
			noise{"cough", rig.Cough()}, noise{"click", click(chance)}, noise{"typing", typing(chance)}, noise{"uh huh", trimmed(uhHuh)},
		)
	}
	return all, nil
}

// click returns the sound of a switch: two short bursts.
func click(chance *rand.Rand) rig.Sound {
	return rig.Join(burst(chance, 4*time.Millisecond, 0.7), rig.Silence(60*time.Millisecond), burst(chance, 3*time.Millisecond, 0.5))
}

// typing returns 1.5 s of typing on a keyboard.
func typing(chance *rand.Rand) rig.Sound {
	var s rig.Sound
	for s.Duration() < 1500*time.Millisecond {
		key := burst(chance, time.Duration(8+chance.IntN(8))*time.Millisecond, 0.15+0.2*chance.Float64())
		s = rig.Join(s, key, rig.Silence(time.Duration(50+chance.IntN(110))*time.Millisecond))
	}
	return s
}

// burst returns noise that fades within three times the length, with a dull knock in it.
func burst(chance *rand.Rand, length time.Duration, loudness float64) rig.Sound {
	s := rig.Silence(3 * length)
	for i := range s {
		at := float64(i) / rig.SpeechRate
		v := 0.7*(2*chance.Float64()-1) + 0.3*math.Sin(2*math.Pi*180*at)
		s[i] = int16(math.MaxInt16 * loudness * math.Exp(-at/length.Seconds()) * v)
	}
	return s
}

// trimmed returns a sound without the silence at its ends.
func trimmed(s rig.Sound) rig.Sound {
	from, to := 0, len(s)
	for from < to && abs(s[from]) < 328 {
		from++
	}
	for to > from && abs(s[to-1]) < 328 {
		to--
	}
	return s[from:to]
}

func abs(v int16) int { return int(math.Abs(float64(v))) }
