package segment

import "time"

// Report says what Open found and did.
type Report struct {
	Dir      string
	Segments int
	Bytes    int64
	// ScannedBytes and ScannedBatches were read and checked.
	ScannedBytes   int64
	ScannedBatches int64
	// CutBytes were dropped above the recovery point; CutFile keeps them if valid batches followed the bad one.
	CutBytes  int64
	CutOffset int64
	CutFile   string
	// Damage lists what is wrong below the recovery point; it was left as it is.
	Damage []Damage
	// RebuiltIndexes are the base offsets of segments whose indexes were rebuilt.
	RebuiltIndexes []int64
	// Removed are files that were dropped (left-overs, bad snapshots); Notes tells what else was repaired.
	Removed []string
	Notes   []string
	// SnapshotOffset is where producer state was loaded from, -1 without one.
	SnapshotOffset int64
	Duration       time.Duration
}

// Damage is a bad range below the recovery point.
type Damage struct {
	File     string
	Pos, Len int64
	// FromOffset is the first offset that is missing, NextOffset the first that is there again behind it.
	FromOffset, NextOffset int64
	Err                    error
}
