package kafkatool

import (
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/jopt"
)

const apiVersionsHelp = "This tool helps to retrieve broker version information."

var apiVersionsTool = &tool{
	name:    "kafka-broker-api-versions",
	class:   "org.apache.kafka.tools.BrokerApiVersionsCommand",
	about:   apiVersionsHelp,
	help:    apiVersionsHelp,
	options: apiVersionsOptions,
	run:     runApiVersions,
}

func apiVersionsOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "server(s) to use for bootstrapping", "REQUIRED: the brokers to ask.").
		Str("command-config", "command config property file", "Properties for the connection."))
}

// clientAPIs are the requests that Kafka 4.4's clients know and the newest version of each; "usable" is the newest that both sides know.
var clientAPIs = []struct {
	key    int16
	name   string
	newest int16
}{
	{0, "Produce", 13},
	{1, "Fetch", 18},
	{2, "ListOffsets", 11},
	{3, "Metadata", 13},
	{8, "OffsetCommit", 10},
	{9, "OffsetFetch", 10},
	{10, "FindCoordinator", 6},
	{11, "JoinGroup", 9},
	{12, "Heartbeat", 4},
	{13, "LeaveGroup", 5},
	{14, "SyncGroup", 5},
	{15, "DescribeGroups", 6},
	{16, "ListGroups", 5},
	{17, "SaslHandshake", 1},
	{18, "ApiVersions", 5},
	{19, "CreateTopics", 7},
	{20, "DeleteTopics", 6},
	{21, "DeleteRecords", 2},
	{22, "InitProducerId", 5},
	{23, "OffsetForLeaderEpoch", 4},
	{24, "AddPartitionsToTxn", 5},
	{25, "AddOffsetsToTxn", 4},
	{26, "EndTxn", 5},
	{27, "WriteTxnMarkers", 2},
	{28, "TxnOffsetCommit", 6},
	{29, "DescribeAcls", 3},
	{30, "CreateAcls", 3},
	{31, "DeleteAcls", 3},
	{32, "DescribeConfigs", 4},
	{33, "AlterConfigs", 2},
	{34, "AlterReplicaLogDirs", 2},
	{35, "DescribeLogDirs", 5},
	{36, "SaslAuthenticate", 2},
	{37, "CreatePartitions", 3},
	{38, "CreateDelegationToken", 3},
	{39, "RenewDelegationToken", 2},
	{40, "ExpireDelegationToken", 2},
	{41, "DescribeDelegationToken", 3},
	{42, "DeleteGroups", 3},
	{43, "ElectLeaders", 2},
	{44, "IncrementalAlterConfigs", 1},
	{45, "AlterPartitionReassignments", 1},
	{46, "ListPartitionReassignments", 0},
	{47, "OffsetDelete", 0},
	{48, "DescribeClientQuotas", 1},
	{49, "AlterClientQuotas", 1},
	{50, "DescribeUserScramCredentials", 0},
	{51, "AlterUserScramCredentials", 0},
	{55, "DescribeQuorum", 2},
	{57, "UpdateFeatures", 2},
	{60, "DescribeCluster", 2},
	{61, "DescribeProducers", 0},
	{64, "UnregisterBroker", 0},
	{65, "DescribeTransactions", 0},
	{66, "ListTransactions", 2},
	{68, "ConsumerGroupHeartbeat", 1},
	{69, "ConsumerGroupDescribe", 1},
	{71, "GetTelemetrySubscriptions", 0},
	{72, "PushTelemetry", 0},
	{74, "ListConfigResources", 1},
	{75, "DescribeTopicPartitions", 0},
	{76, "ShareGroupHeartbeat", 1},
	{77, "ShareGroupDescribe", 1},
	{78, "ShareFetch", 2},
	{79, "ShareAcknowledge", 2},
	{80, "AddRaftVoter", 1},
	{81, "RemoveRaftVoter", 0},
	{83, "InitializeShareGroupState", 0},
	{84, "ReadShareGroupState", 0},
	{85, "WriteShareGroupState", 1},
	{86, "DeleteShareGroupState", 0},
	{87, "ReadShareGroupStateSummary", 1},
	{88, "StreamsGroupHeartbeat", 1},
	{89, "StreamsGroupDescribe", 1},
	{90, "DescribeShareGroupOffsets", 1},
	{91, "AlterShareGroupOffsets", 0},
	{92, "DeleteShareGroupOffsets", 0},
	{93, "StreamsGroupTopologyDescriptionUpdate", 0},
	{94, "UnregisterController", 0},
}

func runApiVersions(e *Env, v *jopt.Values) error {
	if err := require(v, "bootstrap-server"); err != nil {
		return err
	}
	cl, err := e.dial(v)
	if err != nil {
		return err
	}
	defer cl.Close()
	md, err := metadata(e, cl, []string{})
	if err != nil {
		return err
	}
	for _, b := range brokers(md) {
		where := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		resp, err := askBroker[*kmsg.ApiVersionsResponse](e, cl, b.NodeID, versionsRequest())
		if err != nil {
			e.println("%s (id: %d rack: %s isFenced: false) -> ERROR: %s", where, b.NodeID, text(b.Rack), err)
			continue
		}
		e.println("%s (id: %d rack: %s isFenced: false) -> (", where, b.NodeID, text(b.Rack))
		for i, a := range clientAPIs {
			comma := ","
			if i == len(clientAPIs)-1 {
				comma = ""
			}
			e.println("\t%s(%d): %s%s", a.name, a.key, versionRange(resp, a.key, a.newest), comma)
		}
		e.println(")")
	}
	return nil
}

// versionsRequest names its sender, without which a broker refuses it.
func versionsRequest() *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "millrace", Version
	return req
}

func versionRange(resp *kmsg.ApiVersionsResponse, key, newest int16) string {
	for _, k := range resp.ApiKeys {
		if k.ApiKey != key {
			continue
		}
		versions := fmt.Sprintf("%d to %d", k.MinVersion, k.MaxVersion)
		if k.MinVersion == k.MaxVersion {
			versions = strconv.Itoa(int(k.MinVersion))
		}
		if k.MinVersion > newest {
			return versions + " [unusable: client too old]"
		}
		return fmt.Sprintf("%s [usable: %d]", versions, min(newest, k.MaxVersion))
	}
	return "UNSUPPORTED"
}
