"""confluent-kafka (librdkafka) as a producer and a consumer by partition: produce ADDR TOPIC CODEC | consume ADDR TOPIC END..."""
import io
import sys

from confluent_kafka import Consumer, Producer, TopicPartition

import frames


def produce(addr, topic, codec):
    producer = Producer({"bootstrap.servers": addr, "compression.type": codec, "acks": "all", "enable.idempotence": True, "linger.ms": 5})
    failures = []

    def report(err, _):
        if err is not None:
            failures.append(err)

    for partition, key, value, headers in frames.read_all():
        while True:
            try:
                producer.produce(topic, value=value, key=key, partition=partition, headers=headers, on_delivery=report)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(60)
    if left or failures:
        sys.exit("%d unsent, first failure: %s" % (left, failures[:1]))


def consume(addr, topic, ends):
    out = io.BufferedWriter(io.FileIO(1, "w", closefd=False), 1 << 20)
    consumer = Consumer({"bootstrap.servers": addr, "group.id": "unused", "enable.auto.commit": False, "check.crcs": True})
    consumer.assign([TopicPartition(topic, p, 0) for p in range(len(ends))])
    left = sum(ends)
    while left:
        batch = consumer.consume(min(10000, left), 20)
        if not batch:
            sys.exit("nothing for 20 s with %d records left" % left)
        for m in batch:
            if m.error():
                sys.exit(str(m.error()))
            frames.write(out, m.partition(), m.offset(), m.key(), m.value(), m.headers() or [])
            left -= 1
    out.flush()
    consumer.close()


if sys.argv[1] == "produce":
    produce(*sys.argv[2:5])
else:
    consume(sys.argv[2], sys.argv[3], [int(e) for e in sys.argv[4:]])
