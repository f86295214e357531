package broker

// Feature is a feature with the levels this version supports (KIP-584).
type Feature struct {
	Name     string
	Min, Max int16
}

// finalizedFeatures are the levels a new cluster starts with. transaction.version and the share and streams protocols are
// finalized when they are served.
var finalizedFeatures = map[string]int16{"metadata.version": metadataVersion, "group.version": 1}

// metadataVersion is the metadata.version that Apache Kafka 4.4.0 finalizes.
const metadataVersion = 33

// SupportedFeatures are what this version can do.
func SupportedFeatures() []Feature {
	return []Feature{{Name: "group.version", Max: 1}, {Name: "metadata.version", Min: 7, Max: metadataVersion}}
}
