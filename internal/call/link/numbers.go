package link

// The numbers of events: they stand in the event_id, so that another process knows which events a client has.

import (
	"fmt"
	"strconv"
	"strings"
)

// NumberedID returns the event_id of an event of a call that is journalled. name is an id that no other event has. epoch is that of the process that sends the event,
// and newest the number of the newest numbered event, this one included. An event that is not numbered has the number of the one before it.
func NumberedID(name string, epoch uint32, newest uint64) string {
	return fmt.Sprintf("%s-%d-%d", name, epoch, newest)
}

// readNumber returns the epoch and the number in an event_id that NumberedID has made.
func readNumber(id string) (epoch uint32, number uint64, ok bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 {
		return 0, 0, false
	}
	e, err := strconv.ParseUint(parts[1], 10, 32)
	n, wrong := strconv.ParseUint(parts[2], 10, 64)
	return uint32(e), n, err == nil && wrong == nil
}

// EventsAfter returns the events of a journal that a client does not have which has seen the event with the id after. All numbered events after the number base are in
// events, the oldest first. It returns ErrReplayLost if some of the missing events are forgotten, or if the client has seen an event that the
// journal does not know.
func EventsAfter(events []Event, base uint64, after string) ([]Event, error) {
	epoch, number, ok := readNumber(after)
	if !ok {
		return nil, ErrReplayLost
	}
	if number == base && base > 0 {
		return events, nil
	}
	for i, e := range events {
		if e.Number != number {
			continue
		}
		if of, _, _ := readNumber(e.ID); of > epoch {
			return nil, ErrReplayLost // the client has another event of this number, which its process has not stored
		}
		return events[i+1:], nil
	}
	return nil, ErrReplayLost
}
