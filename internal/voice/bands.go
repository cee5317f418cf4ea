package voice

// This file follows the power and the noise floor of a signal, by channel and by band.

// A channel is one bin of the spectrum below 2 kHz, or one of eight groups of bins above. Single bins separate the lines of a hum from the
// speech between them. A band is one or more channels, about a third of an octave; decisions are made by band. Bins below 94 Hz are left
// out: they contain direct current, mains hum and rumble, and no important harmonic of speech.
const (
	lowBins      = 64 // bins under 2 kHz, each a channel
	highChannels = 8
	channelCount = lowBins + highChannels
	firstBin     = 3
	bandCount    = 19
)

const (
	// smoothing is the weight of a new frame in the smoothed power: a time constant of 35 ms.
	smoothing = 0.25
	// leastNoise is the least noise floor of one bin: -80 dBFS over the whole spectrum.
	leastNoise = 1e-8 / binCount
	// firstNoise is the noise floor at the start: -65 dBFS.
	firstNoise = 30 * leastNoise
	// minimumBias is the ratio of the mean of a noise to its minimum (R. Martin, 2001, derives it; this value is for ten degrees
	// of freedom and 3 s).
	minimumBias = 2

	minimaBlocks  = 8  // of minimaFrames: the minimum is taken over 3.2 s, which is longer than speech without a pause
	minimaFrames  = 40 // 400 ms
	extremaBlocks = 6  // of extremaFrames: a band is still if its level stays within stillRange for 0.6 s
	extremaFrames = 10 // 100 ms
	// stillRange is in dB. The level of a band of noise stays within 3 to 6 dB, that of speech varies by 15 to 40 dB.
	stillRange = 9

	elevatedFrom = 4  // dB over the floor at which a band begins to count as elevated
	elevatedSpan = 12 // dB above that at which it counts in full
	// Sound counts if it is at most dynamics dB below the last peak. The peak falls by peakDecay dB a frame. Without this limit the
	// decay of a sound would count as sound where there is no noise.
	dynamics  = 36
	peakDecay = 0.2

	fluxFrames = 8  // frames over which the change of shape is measured
	fluxRange  = 30 // dB below the strongest band; lower levels of bands are ignored
	maxRun     = 30 // frames
)

// bandEdge has the first channel of each band, and the end of the last band.
var bandEdge = [bandCount + 1]int{3, 6, 10, 14, 18, 23, 28, 34, 41, 49, 57, 64, 65, 66, 67, 68, 69, 70, 71, 72}

// highEdge has the first bin of each high channel, and the end of the last one: 2000, 2375, 2844, 3406, 4062, 4844,
// 5750, 6750 and 7812 Hz.
var highEdge = [highChannels + 1]int{64, 76, 91, 109, 130, 155, 184, 216, 250}

type (
	channelPowers [channelCount]float32
	bandLevels    [bandCount]float32 // dB
)

// bands follows the power and the noise of each channel.
type bands struct {
	power  channelPowers // of this frame
	smooth channelPowers
	noise  channelPowers // the noise floor

	minimum channelPowers               // minima of the present block
	minima  [minimaBlocks]channelPowers // minima of the blocks before it
	lowest  channelPowers               // minima of all these blocks
	minTick blockClock

	level    bandLevels // levels of the smoothed power
	least    bandLevels // lowest levels of the present block
	most     bandLevels
	leasts   [extremaBlocks]bandLevels
	mosts    [extremaBlocks]bandLevels
	lowest6  bandLevels // lowest levels of all blocks
	highest6 bandLevels
	extTick  blockClock

	shapes shapeRing

	voicing    float32 // recent share of voiced frames
	peak       float32 // dBFS
	run        float32
	lastLevels [2]float32
}

// shapeRing holds the spectral shapes of the last fluxFrames frames.
type shapeRing struct {
	shape [fluxFrames]bandLevels
	at    int // index of the oldest shape
}

// blockClock counts frames and blocks of frames.
type blockClock struct{ frame, block int }

// step counts one frame. If the frame completes a block, step returns the index of the block in its ring.
func (r *blockClock) step(frames, blocks int) (place int, full bool) {
	r.frame++
	if r.frame < frames {
		return 0, false
	}
	r.frame = 0
	place = r.block
	r.block = (r.block + 1) % blocks
	return place, true
}

// leastLevel is the lowest level of a band, in dB.
const leastLevel = -100

func (b *bands) reset() {
	clear(b.power[:])
	clear(b.smooth[:])
	clear(b.level[:])
	b.shapes = shapeRing{}
	b.minTick, b.extTick = blockClock{}, blockClock{}
	b.voicing, b.run = 0, 0
	b.peak, b.lastLevels[0], b.lastLevels[1] = MinDBFS, MinDBFS, MinDBFS
	for c := range b.noise {
		b.noise[c] = firstNoise * channelWidth(c)
		b.minimum[c], b.lowest[c] = 1, 1
		for i := range b.minima {
			b.minima[i][c] = 1
		}
	}
	// The stream counts as silent before its begin. So speech at its begin is not taken for steady noise.
	for i := range b.least {
		b.least[i], b.most[i], b.lowest6[i], b.highest6[i] = leastLevel, leastLevel, leastLevel, leastLevel
		for k := range b.leasts {
			b.leasts[k][i], b.mosts[k][i] = leastLevel, leastLevel
		}
	}
}

// measure computes the features that need the bands.
func (b *bands) measure(power *[binCount]float32, f *features) {
	b.split(power)
	b.measureLevel(f)
	f.elevation = b.elevation() * clamp((f.level-b.peak+dynamics)/6, 0, 1)
	if f.elevation > 0.25 {
		b.run = min(b.run+1, maxRun)
	} else {
		b.run = max(b.run-2, 0)
	}
	f.run = b.run
	for i := range b.level {
		b.level[i] = max(decibels(b.smooth.band(i)), leastLevel)
	}
	f.flux = b.flux()
}

// learn updates the noise floor after a frame. voiced in [0, 1] says how voiced the frame is.
func (b *bands) learn(voiced float32) {
	b.voicing += 0.04 * (voiced - b.voicing)
	b.trackMinima()
	b.trackExtrema()
	for i := range bandCount {
		still := max(b.highest6[i], b.most[i])-min(b.lowest6[i], b.least[i]) < stillRange && b.voicing < 0.3
		for c := bandEdge[i]; c < bandEdge[i+1]; c++ {
			b.noise[c] = max(b.follow(c, still), leastNoise*channelWidth(c))
		}
	}
}

// follow returns the next noise floor of a channel. Where the band is still and nobody speaks, the floor moves to the present power, and the
// older minima become invalid. Otherwise the floor falls to the minimum, which speech reaches in its pauses, or rises to it slowly.
func (b *bands) follow(c int, still bool) float32 {
	noise := b.noise[c]
	if still {
		noise += 0.1 * (b.smooth[c] - noise)
		b.minimum[c], b.lowest[c] = noise/minimumBias, noise/minimumBias
		for i := range b.minima {
			b.minima[i][c] = noise / minimumBias
		}
		return noise
	}
	lowest := minimumBias * min(b.minimum[c], b.lowest[c])
	if lowest < noise {
		return lowest
	}
	return noise + 0.05*(lowest-noise)
}

// split adds up the bins of each channel and smooths the channels.
func (b *bands) split(power *[binCount]float32) {
	copy(b.power[:lowBins], power[:lowBins])
	for i := range highChannels {
		var sum float32
		for _, p := range power[highEdge[i]:highEdge[i+1]] {
			sum += p
		}
		b.power[lowBins+i] = sum
	}
	for c := range b.smooth {
		b.smooth[c] += smoothing * (b.power[c] - b.smooth[c])
	}
}

func (b *bands) measureLevel(f *features) {
	var sum float32
	for _, p := range b.power[firstBin:] {
		sum += p
	}
	f.level = max(decibels(sum), MinDBFS)
	f.fall = b.lastLevels[0] - f.level
	b.lastLevels[0], b.lastLevels[1] = b.lastLevels[1], f.level
	b.peak = max(f.level, b.peak-peakDecay)
	var noise float32
	for _, n := range b.noise[firstBin:] {
		noise += n
	}
	f.room = b.peak - decibels(noise)
}

// elevation returns how far the bands are above their noise floors, as a mean over the bands.
func (b *bands) elevation() float32 {
	var sum float32
	for i := range bandCount {
		over := decibels(b.power.band(i) / b.noise.band(i))
		sum += clamp((over-elevatedFrom)/elevatedSpan, 0, 1)
	}
	return sum / bandCount
}

// flux returns how much the shape of the spectrum has changed. The shape is the levels without their mean. The shape of speech changes all
// the time; the shape of noise does not, even when its level jumps.
func (b *bands) flux() float32 {
	top := b.level[0]
	for _, l := range b.level[:] {
		top = max(top, l)
	}
	var mean float32
	for _, l := range b.level[:] {
		mean += max(l, top-fluxRange) / bandCount
	}
	old := &b.shapes.shape[b.shapes.at]
	b.shapes.at = (b.shapes.at + 1) % fluxFrames
	var sum float32
	for i, l := range b.level[:] {
		shape := max(l, top-fluxRange) - mean
		sum += absolute(shape - old[i])
		old[i] = shape
	}
	return sum / bandCount
}

func (b *bands) trackMinima() {
	for c, s := range b.smooth[:] {
		b.minimum[c] = min(b.minimum[c], s)
	}
	place, full := b.minTick.step(minimaFrames, minimaBlocks)
	if !full {
		return
	}
	copy(b.minima[place][:], b.minimum[:])
	copy(b.lowest[:], b.minimum[:])
	copy(b.minimum[:], b.smooth[:])
	for i := range b.minima {
		for c, m := range b.minima[i][:] {
			b.lowest[c] = min(b.lowest[c], m)
		}
	}
}

func (b *bands) trackExtrema() {
	for i, l := range b.level[:] {
		b.least[i], b.most[i] = min(b.least[i], l), max(b.most[i], l)
	}
	place, full := b.extTick.step(extremaFrames, extremaBlocks)
	if !full {
		return
	}
	copy(b.leasts[place][:], b.least[:])
	copy(b.mosts[place][:], b.most[:])
	copy(b.lowest6[:], b.least[:])
	copy(b.highest6[:], b.most[:])
	for k := range extremaBlocks {
		for i := range bandCount {
			b.lowest6[i] = min(b.lowest6[i], b.leasts[k][i])
			b.highest6[i] = max(b.highest6[i], b.mosts[k][i])
		}
	}
	copy(b.least[:], b.level[:])
	copy(b.most[:], b.level[:])
}

// band returns the power in band i.
func (p *channelPowers) band(i int) float32 {
	var sum float32
	for _, v := range p[bandEdge[i]:bandEdge[i+1]] {
		sum += v
	}
	return sum
}

// channelWidth returns how many bins channel c has.
func channelWidth(c int) float32 {
	if c < lowBins {
		return 1
	}
	return float32(highEdge[c-lowBins+1] - highEdge[c-lowBins])
}
