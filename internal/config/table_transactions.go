package config

// transactionsKeys are the broker keys of transactions.
var transactionsKeys = []row{
	{"add.partitions.to.txn.retry.backoff.max.ms", Int, "100", atLeast(0), ReadOnly, noTransactions, "Longest wait for a transaction that is still ending."},
	{"add.partitions.to.txn.retry.backoff.ms", Int, "20", atLeast(1), ReadOnly, noTransactions, "First wait for a transaction that is still ending."},
	{"transaction.abort.timed.out.transaction.cleanup.interval.ms", Int, "10000", atLeast(1), ReadOnly, noTransactions, "How often transactions past their timeout are looked for."},
	{"transaction.max.timeout.ms", Int, "900000", atLeast(1), ReadOnly, noTransactions, "Longest timeout a transaction may ask for."},
	{"transaction.partition.verification.enable", Boolean, "true", nil, ClusterWide, noTransactions, "Whether a write must belong to a transaction that knows the partition."},
	{"transaction.remove.expired.transaction.cleanup.interval.ms", Int, "3600000", atLeast(1), ReadOnly, noTransactions, "How often expired transactional ids are looked for."},
	{"transaction.state.log.load.buffer.size", Int, "5242880", atLeast(1), ReadOnly, noTransactions, "Bytes read at a time when a coordinator loads its transactions."},
	{"transaction.state.log.min.isr", Int, "2", atLeast(1), ReadOnly, noTransactions, "In-sync replicas that __transaction_state needs."},
	{"transaction.state.log.num.partitions", Int, "50", atLeast(1), ReadOnly, noTransactions, "Partitions of __transaction_state."},
	{"transaction.state.log.replication.factor", Short, "3", atLeast(1), ReadOnly, noTransactions, "Replicas of __transaction_state."},
	{"transaction.state.log.segment.bytes", Int, "104857600", atLeast(1), ReadOnly, noTransactions, "Segment size of __transaction_state."},
	{"transaction.two.phase.commit.enable", Boolean, "false", nil, ReadOnly, noTransactions, "Whether transactions may take part in a two-phase commit."},
	{"transactional.id.expiration.ms", Int, "604800000", atLeast(1), ReadOnly, noTransactions, "A transactional id that was silent for this long is forgotten."},
}
