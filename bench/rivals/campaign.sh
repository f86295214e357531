#!/usr/bin/env bash
# The campaign behind the tables of README.md and docs/performance.md: Millrace on both I/O drivers, Apache Kafka, NATS and the
# floors, in parts of which each writes its JSON. Run it again to go on where it stopped.
#   campaign.sh RESULTS [full|table|short [WORKLOAD...]]
# full runs every load at full size (a day); table runs those of the README's table, seven rounds, bulk runs of full size (four
# hours and more); short is a look at it (80 minutes).
# Environment:
#   MILLRACE                  the binary (default bin/millrace)
#   KAFKA_START, KAFKA_STOP   commands as for --kafka-start and --kafka-stop (default: kafka.sh beside this script, with KAFKA_HOME)
#   KAFKA_TOOLS               directory of Kafka's tools (default $KAFKA_HOME/bin)
#   NATS_SERVER, NATS         programs (default: those found by their names)
#   PART_TIME                 about the longest part of table (default 20m; 10h keeps each workload in one part, as the README's was run)
#   HOLD                      bytes of memory held between bulk runs (default 17000000000, for a machine of 24 GB; docs/performance.md)
set -euo pipefail
[ $# -ge 1 ] || { sed -n 2,13p "$0" >&2; exit 64; }
here=$(cd "$(dirname "$0")" && pwd)
results=$1 size=${2:-full}
shift $(($# > 1 ? 2 : 1))
mkdir -p "$results"
# The loads of the table; a workload without an entry has no loads, or all of them count.
declare -A loads=([W1]=W1 [W2]=W2 [W3]=W3-1 [W4]=W4-acks1-1k,W4-acks1-10k,W4-all-1k,W4-all-10k [W5]=W5-acks1,W5-all [W6]=W6-1,W6-64,W6-64x64)
flags=()
case $size in
full) loads=() ;;
table)
  flags=(--part-time "${PART_TIME:-20m}" --open-time 10s --stock-bytes 2000000000)
  ;;
short)
  flags=(--rounds 5 --part-time 10h --bulk-bytes 3000000000 --bulk-time 3s --read-bytes 3000000000 --sends 20000 --sync-time 2s --open-time 6s
    --backlog-bytes 4000000000 --keep-bytes 2000000000 --keep-partitions 200 --stock-bytes 1000000000)
  ;;
*) echo "$size is not full, table or short" >&2; exit 64 ;;
esac
[ $# -gt 0 ] || set -- W1 W2 W3 W5 W6 W4 W7 W10 W11 W9 STOCK NATS
for w in "$@"; do
  more=()
  case $w-$size in
  W1-* | W2-*) more+=(--hold-memory "${HOLD:-17000000000}") ;;
  W9-short | W11-short | STOCK-short | NATS-short) more+=(--rounds 3) ;;
  esac
  [ -z "${loads[$w]:-}" ] || more+=(--loads "${loads[$w]}")
  "${MILLRACE:-bin/millrace}" bench run --targets millrace-uring,millrace-epoll,kafka --few-floors --parts "$results" --dir "$results/data" --workloads "$w" \
    --kafka-start "${KAFKA_START:-$here/kafka.sh start {port\} {dir\} {cpus\}}" --kafka-stop "${KAFKA_STOP:-$here/kafka.sh stop {dir\}}" \
    --kafka-tools "${KAFKA_TOOLS:-${KAFKA_HOME:-}/bin}" --nats-server "${NATS_SERVER:-nats-server}" --nats "${NATS:-nats}" "${flags[@]}" "${more[@]}"
done
rm -rf "$results/data"
