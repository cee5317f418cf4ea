package context

import (
	"testing"
	"time"
)

func ended(c Context) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

func TestAChildEndsWithItsParent(t *testing.T) {
	parent, cancel := WithCancel(Background())
	child, cancelChild := WithCancel(parent)
	other, _ := WithCancel(parent)
	cancelChild()
	cancelChild()
	if !ended(child) || child.Err() != Canceled || ended(parent) || len(parent.(*node).children) != 1 {
		t.Fatal("only the child has ended, and is forgotten")
	}
	cancel()
	late, _ := WithCancel(parent)
	if !ended(other) || !ended(late) || late.Err() != Canceled || parent.(*node).children != nil {
		t.Fatal("all have ended")
	}
}

func TestATimeOutEndsAContext(t *testing.T) {
	long, cancelLong := WithTimeout(Background(), time.Hour)
	short, cancel := WithTimeout(long, time.Microsecond)
	defer cancel()
	<-short.Done()
	if short.Err() != DeadlineExceeded || long.Err() != nil {
		t.Fatal("the short one has ended in time, the long one has not")
	}
	longer, _ := WithTimeout(long, 2*time.Hour)
	if a, ok := longer.Deadline(); !ok || a != long.(*node).deadline {
		t.Fatal("a child has its parent's deadline when that is sooner")
	}
	cancelLong()
	if longer.Err() != Canceled {
		t.Fatal("what is cancelled before its time is cancelled")
	}
}

func TestAFunctionRunsAfterTheEndUnlessStopped(t *testing.T) {
	parent, cancel := WithCancel(Background())
	ran := make(chan string, 2)
	stop := AfterFunc(parent, func() { ran <- "stopped" })
	AfterFunc(parent, func() { ran <- "left" })
	if !stop() || stop() {
		t.Fatal("it is stopped once")
	}
	cancel()
	if which := <-ran; which != "left" {
		t.Fatal(which)
	}
	after := AfterFunc(parent, func() { ran <- "late" })
	if which := <-ran; which != "late" || after() {
		t.Fatal(which)
	}
}
