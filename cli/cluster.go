package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func clusterCommand() *cobra.Command {
	f := &flags{}
	return group("cluster", "Ask about the brokers", f, clusterInfo(f), clusterHealth(f))
}

// clusterDetails is what cluster info shows.
type clusterDetails struct {
	ID         string          `json:"id"`
	Controller int32           `json:"controller"`
	Brokers    []brokerDetails `json:"brokers"`
	Topics     int             `json:"topics"`
	Partitions int             `json:"partitions"`
}

type brokerDetails struct {
	ID      int32  `json:"id"`
	Host    string `json:"host"`
	Port    int32  `json:"port"`
	Rack    string `json:"rack,omitempty"`
	Leaders int    `json:"leaders"`
}

func clusterInfo(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "info", Short: "Show the cluster's id and brokers", Args: cobra.NoArgs,
		Example: "  millrace cluster info -b broker1:9092",
		RunE: f.withBroker(func(s *session) error {
			md, err := s.adm.Metadata(s.ctx)
			if err != nil {
				return err
			}
			d := clusterDetails{ID: md.Cluster, Controller: md.Controller, Topics: len(md.Topics)}
			leads := map[int32]int{}
			md.Topics.EachPartition(func(p kadm.PartitionDetail) {
				d.Partitions++
				leads[p.Leader]++
			})
			var rows [][]any
			for _, b := range md.Brokers {
				one := brokerDetails{ID: b.NodeID, Host: b.Host, Port: b.Port, Leaders: leads[b.NodeID]}
				if b.Rack != nil {
					one.Rack = *b.Rack
				}
				d.Brokers = append(d.Brokers, one)
				rows = append(rows, []any{one.ID, one.Host, one.Port, word(one.Rack), one.Leaders})
			}
			return s.out.value(d, func() error {
				s.out.line("cluster %s, controller %d, %s, %s", d.ID, d.Controller, counted(d.Topics, "topic"), counted(d.Partitions, "partition"))
				return s.out.table([]any{"BROKER", "HOST", "PORT", "RACK", "LEADERS"}, rows)
			})
		}),
	}
}

// health is what cluster health shows.
type health struct {
	Healthy         bool     `json:"healthy"`
	Brokers         int      `json:"brokers"`
	Leaderless      []string `json:"leaderless"`
	UnderReplicated []string `json:"underReplicated"`
	Offline         []string `json:"offlineReplicas"`
}

func clusterHealth(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Check that every partition has its leader and its replicas", Args: cobra.NoArgs,
		Example: "  millrace cluster health -o json",
		Long:    "Exit code 0 where every partition has a leader and all replicas are in sync, 5 where not, 3 where no broker answers.",
		RunE: f.withBroker(func(s *session) error {
			md, err := s.adm.Metadata(s.ctx)
			if err != nil {
				return err
			}
			h := health{Brokers: len(md.Brokers), Leaderless: []string{}, UnderReplicated: []string{}, Offline: []string{}}
			md.Topics.EachPartition(func(p kadm.PartitionDetail) {
				name := fmt.Sprintf("%s-%d", p.Topic, p.Partition)
				if p.Leader < 0 {
					h.Leaderless = append(h.Leaderless, name)
				}
				if len(p.ISR) < len(p.Replicas) {
					h.UnderReplicated = append(h.UnderReplicated, name)
				}
				if len(p.OfflineReplicas) > 0 {
					h.Offline = append(h.Offline, name)
				}
			})
			h.Healthy = len(h.Leaderless)+len(h.UnderReplicated)+len(h.Offline) == 0
			err = s.out.value(h, func() error {
				if h.Healthy {
					s.out.line("healthy: %s, every partition has its leader and all its replicas", counted(h.Brokers, "broker"))
					return nil
				}
				for _, l := range []struct {
					words string
					list  []string
				}{{"without a leader", h.Leaderless}, {"under-replicated", h.UnderReplicated}, {"with an offline replica", h.Offline}} {
					if len(l.list) > 0 {
						s.out.line("%s %s: %s", counted(len(l.list), "partition"), l.words, strings.Join(l.list, ", "))
					}
				}
				return nil
			})
			if err == nil && !h.Healthy {
				err = fmt.Errorf("the cluster is %w", errUnwell)
			}
			return err
		}),
	}
}
