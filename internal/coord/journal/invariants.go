package journal

// The invariants of the machine. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

func releasedIsStored(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, r Release) bool {
		return g.Released < r.To && r.To <= g.Recorded && (r.To <= g.Stored || g.Broken || !g.Begun)
	})
}

func oneAtATime(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Append) bool { return g.Asked == 0 }) &&
		machine.Every(before, step, func(g Seen, _ AppendFull) bool { return g.Asked == 0 }) &&
		machine.Every(before, step, func(g Seen, _ AppendEnd) bool { return g.Asked == 0 }) &&
		machine.Every(before, step, func(g Seen, _ Look) bool { return g.Asked == 0 })
}

func doubtIsResolved(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, f Append) bool { return !g.Doubt && !g.Broken && f.To == g.Recorded && g.Stored < f.To }) &&
		machine.Every(before, step, func(g Seen, _ AppendFull) bool { return !g.Doubt && g.Broken }) &&
		machine.Every(before, step, func(g Seen, f AppendEnd) bool { return !g.Doubt && !g.Broken && f.To == g.Recorded+1 && g.Over }) &&
		machine.Every(before, step, func(g Seen, _ Look) bool { return g.Doubt })
}

func fencedIsSilent(before, after Seen, step edge) bool {
	if before.Down {
		return len(step.Effects) == 0 && after.Down
	}
	_, taken := step.Event.(Taken)
	if taken && before.Begun && !before.Gone {
		return machine.Once[Fence](step, true) && len(step.Effects) == 1 && after.Down
	}
	return machine.Once[Fence](step, false)
}

func brokenIsToldOnce(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Break) bool { return !g.Broken }) &&
		machine.Every(before, step, func(g Seen, _ Restore) bool { return g.Broken })
}

func restoredIsWhole(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Restore) bool { return g.Stored == g.Recorded && !g.Doubt && !g.Gone })
}

func removedAfterTheEnd(before, _ Seen, step edge) bool {
	return machine.Once[Remove](step, !before.Down && before.Event(step).Ended)
}

func waitIsBounded(_, after Seen, _ edge) bool {
	withheld := after.Released < after.Recorded
	return after.Down || !withheld && after.Asked != ForEnd || after.Armed == after.Released+1
}

func storeIsAsked(_, after Seen, _ edge) bool {
	busy := after.Released < after.Recorded || after.Broken || after.Over
	return after.Down || after.Gone && after.Asked == 0 || busy == (after.Asked != 0)
}

func stateAgrees(_, after Seen, step edge) bool {
	g := after
	whole := g.Begun && !g.Broken && !g.Gone && !g.Over
	switch s := step.To.(type) {
	case Waiting:
		return !g.Begun && s.Recorded == g.Recorded && g.Released == g.Recorded
	case Resting:
		return whole && s.Stored == g.Stored && g.Released == g.Stored && g.Recorded == g.Stored
	case Writing:
		return whole && s == Writing{g.Recorded, g.Stored} && g.Released == g.Stored && g.Asked == ForAppend
	case Doubtful:
		return whole && s == Doubtful{g.Recorded, g.Stored} && g.Released == g.Stored && g.Asked == ForLook
	case Broken:
		return g.Broken && s.Recorded == g.Recorded && g.Released == g.Recorded && g.Asked == ForLook
	case Mending:
		return g.Broken && s.Recorded == g.Recorded && g.Released == g.Recorded && g.appends()
	case Off:
		return g.Gone && s.Recorded == g.Recorded && g.Released == g.Recorded
	case Finishing:
		return g.Over && s == Finishing{g.Recorded, g.Stored} && g.Released == g.Stored && g.Asked == ForAppend
	case Ending:
		return g.Over && s.Last == g.Recorded+1 && g.Released == g.Recorded && g.Asked == ForEnd
	case Fenced, Closed:
		return g.Down
	}
	return false
}
