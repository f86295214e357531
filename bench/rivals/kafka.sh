#!/usr/bin/env bash
# Starts or stops one Apache Kafka broker (KRaft, combined mode) for a measurement.
#   kafka.sh start PORT DIR CPUS    listens on PORT, its controller on PORT+1; ends when the broker has started
#   kafka.sh stop DIR
# KAFKA_HOME is an unpacked Apache Kafka 4.x. Settings are Kafka's own but for what README.md names.
set -euo pipefail
usage() { sed -n 2,5p "$0" >&2; exit 64; }
[ $# -ge 2 ] || usage
: "${KAFKA_HOME:?is the directory of an unpacked Apache Kafka}"
case $1 in
start)
  [ $# -eq 4 ] || usage
  port=$2 dir=$3 cpus=$4
  mkdir -p "$dir"
  cat > "$dir/server.properties" <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$dir/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
EOF
  if [ ! -e "$dir/data/meta.properties" ]; then
    "$KAFKA_HOME/bin/kafka-storage.sh" format -t AAAAAAAAQACAAAAAAAAAAQ -c "$dir/server.properties" > "$dir/format.log" 2>&1
  fi
  KAFKA_HEAP_OPTS=${KAFKA_HEAP_OPTS:--Xms1G -Xmx1G} LOG_DIR=$dir nohup taskset -c "$cpus" \
    "$KAFKA_HOME/bin/kafka-server-start.sh" "$dir/server.properties" > "$dir/server.log" 2>&1 &
  echo $! > "$dir/pid"
  for _ in $(seq 600); do
    grep -q 'Kafka Server started' "$dir/server.log" && exit 0
    kill -0 "$(cat "$dir/pid")" 2>/dev/null || break
    sleep 0.1
  done
  tail -40 "$dir/server.log" >&2
  exit 70
  ;;
stop)
  pid=$(cat "$2/pid")
  kill "$pid" 2>/dev/null || exit 0
  for _ in $(seq 300); do
    kill -0 "$pid" 2>/dev/null || exit 0
    sleep 0.1
  done
  kill -9 "$pid"
  ;;
*) usage ;;
esac
