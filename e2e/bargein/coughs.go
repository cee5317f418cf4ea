package main

// The row "coughs": runs the noises for each client and writes the table.

import "fmt"

// coughs measures what noises do to a response.
func coughs(h *house, o options, r *results) error {
	made, err := noises(h.ctx, max(1, o.n/2))
	if err != nil {
		return err
	}
	all, err := h.disturb(o.among(ours, unpredicted, naive), made)
	if err != nil {
		return err
	}
	t := table{
		title: "Noises that are no barge-in, embedded pipeline, " + middle.String(),
		head:  []string{"noise", "client", "n", "response left its level", "back at its level after the noise, p50 / p95 ms", "played again, most ms", "words lost", "responses cancelled"},
		notes: []string{
			"\"Played again\" is audio that was heard twice at full level. \"Lost\" is audio that was never heard at full level. " +
				"The test compares the recording with the synthesized response, in steps of 10 ms. " +
				"It counts each 350 ms of lost speech, or a part of that, as a word.",
		},
	}
	for _, d := range all {
		for _, name := range []string{"cough", "click", "typing", "uh huh"} {
			t.rows = append(t.rows, d.row(name))
		}
	}
	r.add(t)
	mine := all[0]
	back, again, words := mine.of("")
	r.judge(target{what: "words lost to noises", want: "0", got: fmt.Sprint(words), met: words == 0, hard: true})
	r.judge(target{what: "responses cancelled by noises", want: "0", got: fmt.Sprint(mine.cancelled), met: mine.cancelled == 0, hard: true})
	most := quantile(back, 0.95)
	r.judge(target{what: "back at its level after a noise, p95", want: "<= 500 ms", got: ms(most), met: len(back) == 0 || most <= 500})
	r.judge(target{what: "audio heard at full level and played again, most", want: "<= 40 ms", got: ms(again), met: again <= 40})
	return nil
}

// of sums up the effects of the noise with this name, or of all noises when the name is empty.
func (d *disturbances) of(name string) (back []float64, again float64, words int) {
	for _, one := range d.all {
		if name != "" && one.noise != name {
			continue
		}
		if one.left {
			back = append(back, one.back)
		}
		again, words = max(again, one.repeated), words+one.words
	}
	return back, again, words
}

func (d *disturbances) row(name string) []string {
	back, again, words := d.of(name)
	n := 0
	for _, one := range d.all {
		if one.noise == name {
			n++
		}
	}
	cancelled := ""
	if name == "cough" {
		cancelled = fmt.Sprintf("%d by all", d.cancelled)
	}
	return []string{name, names[d.kind], fmt.Sprint(n), fmt.Sprint(len(back)), halfAndMost(back), fmt.Sprintf("%.0f", again), fmt.Sprint(words), cancelled}
}
