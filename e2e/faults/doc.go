// Package faults tests the program `antiphon serve` beside faults: hostile clients, stages of the pipeline that hang and fail, network
// cuts, a full disk, a server and a recogniser that stop for seconds. Twenty good calls go on all the while and check every word.
//
// TestCampaign takes 20 seconds of faults. ANTIPHON_FAULTS=5m (`make faults`) takes the given time.
package faults
