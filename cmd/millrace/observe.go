package main

import (
	"errors"
	"fmt"
	"time"

	"millrace/internal/adminhttp"
	"millrace/internal/metric"
)

// startAdmin opens the admin port, unless it is switched off.
func (s *server) startAdmin(metrics *metric.Registry) error {
	c := s.loaded.Broker
	if c.AdminListen == "" {
		return nil
	}
	admin, err := adminhttp.Start(adminhttp.Options{
		Addr: c.AdminListen, Search: c.AdminDefault, Live: s.live, Ready: s.node.Ready, Health: s.health,
		Metrics: metrics, Version: version,
	})
	if err != nil {
		return err
	}
	s.admin = admin
	return nil
}

// liveLimit is how long a loop may take for one turn before the process counts as stuck.
const liveLimit = 5 * time.Second

// live asks every loop to run a task.
func (s *server) live() error {
	for _, l := range s.loops {
		turned := make(chan struct{})
		l.PostFunc(func() { close(turned) })
		select {
		case <-turned:
		case <-time.After(liveLimit):
			return fmt.Errorf("%s has not turned for %s", l.Name(), liveLimit)
		}
	}
	return nil
}

// health is the answer of /v1/cluster/health.
type health struct {
	Healthy           bool     `json:"healthy"`
	Ready             bool     `json:"ready"`
	Reason            string   `json:"reason,omitempty"`
	Node              int32    `json:"node"`
	Cluster           string   `json:"cluster_id"`
	Controller        int32    `json:"controller"`
	NodesDown         []int32  `json:"nodes_down"`
	Topics            int      `json:"topics"`
	Partitions        int      `json:"partitions"`
	Leaderless        int      `json:"leaderless"`
	UnderReplicated   int      `json:"under_replicated"`
	OfflinePartitions int64    `json:"offline_partitions"`
	DeadLogDirs       []string `json:"dead_log_dirs"`
}

func (s *server) health() any {
	image, stats := s.node.Image(), s.node.Engine().Stats()
	h := health{Node: s.node.ID(), Cluster: image.ClusterID(), Controller: s.node.ID(), NodesDown: []int32{}, DeadLogDirs: []string{},
		Topics: image.TopicCount(), Partitions: image.PartitionCount(), OfflinePartitions: stats.Offline}
	for t := range image.Topics() {
		for i := range t.Partitions {
			p := &t.Partitions[i]
			if p.Leader < 0 {
				h.Leaderless++
			}
			if len(p.ISR) < len(p.Replicas) {
				h.UnderReplicated++
			}
		}
	}
	for _, d := range s.node.Engine().Dirs() {
		if d.Err != nil {
			h.DeadLogDirs = append(h.DeadLogDirs, d.Path)
		}
	}
	err := errors.Join(s.node.Ready())
	h.Ready = err == nil
	if err != nil {
		h.Reason = err.Error()
	}
	h.Healthy = h.Ready && h.Leaderless == 0 && h.UnderReplicated == 0 && h.OfflinePartitions == 0
	return h
}
