// Package model predicts what a producer that follows Kafka's batching model does on a broker, and holds the prediction beside
// measurements.
//
// The prediction is arithmetic over one cycle of one broker: records gather until the oldest batch has waited linger.ms, or one
// is full, or requests in flight, the client's processor and the broker allow the next request; then one request takes the
// batches of all partitions of that broker. What client and broker pay for a request, a batch, a record and a byte comes from five
// named cells that are measured once and then frozen (Costs). Nothing of the sweep flows back into them. The broker's capacity
// is wall time and not CPU, because a busy broker also waits for pages and for the disk. With one request in flight a part is
// added that grows with the request's size: both sides sleep and are woken.
//
// Cells are measured on a topic of their own that is deleted afterwards; the next begins when its files are gone and the file
// system is written out, so that a run does not pay for the one before.
//
// It assumes that client and broker have a processor each, that records go round the partitions evenly, and that a rate is
// handed over in lumps, tick by tick. It does not know retries, compression, or a broker that pauses.
//
// Files: predict.go (the arithmetic), costs.go (what was calibrated), calibrate.go (the five cells and the fit), fit.go (least
// squares), sweep.go (the grid), measure.go (running cells), settle.go (waiting until a run has left nothing to do), best.go (choosing a
// setting), table.go and others.go (text).
package model
