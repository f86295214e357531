"""aiokafka (pure Python protocol) as a producer and a consumer by partition: produce ADDR TOPIC CODEC | consume ADDR TOPIC END..."""
import asyncio
import io
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

import frames


async def produce(addr, topic, codec):
    producer = AIOKafkaProducer(bootstrap_servers=addr, compression_type=None if codec == "none" else codec, acks="all", enable_idempotence=True, linger_ms=5)
    await producer.start()
    try:
        waiting = []
        for partition, key, value, headers in frames.read_all():
            waiting.append(await producer.send(topic, value=value, key=key, partition=partition, headers=headers))
        await producer.flush()
        for w in waiting:
            await w
    finally:
        await producer.stop()


async def consume(addr, topic, ends):
    out = io.BufferedWriter(io.FileIO(1, "w", closefd=False), 1 << 20)
    consumer = AIOKafkaConsumer(bootstrap_servers=addr, group_id=None, auto_offset_reset="earliest", check_crcs=True)
    await consumer.start()
    try:
        parts = [TopicPartition(topic, p) for p in range(len(ends))]
        consumer.assign(parts)
        for p in parts:
            consumer.seek(p, 0)
        left = sum(ends)
        while left:
            got = await consumer.getmany(*parts, timeout_ms=20000)
            if not got:
                sys.exit("nothing for 20 s with %d records left" % left)
            for part, records in got.items():
                for r in records:
                    frames.write(out, part.partition, r.offset, r.key, r.value, r.headers)
                left -= len(records)
        out.flush()
    finally:
        await consumer.stop()


if sys.argv[1] == "produce":
    asyncio.run(produce(*sys.argv[2:5]))
else:
    asyncio.run(consume(sys.argv[2], sys.argv[3], [int(e) for e in sys.argv[4:]]))
