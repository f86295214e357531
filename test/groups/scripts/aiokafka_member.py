"""One member of a group with aiokafka: ADDR GROUP TOPIC. Prints the value of each record; leaves in good order on SIGINT."""
import asyncio
import signal
import sys

from aiokafka import AIOKafkaConsumer


async def main(addr, group, topic):
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=addr, group_id=group, auto_offset_reset="earliest", auto_commit_interval_ms=100,
                                heartbeat_interval_ms=200, session_timeout_ms=6000)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    await consumer.start()
    try:
        while not stop.is_set():
            for records in (await consumer.getmany(timeout_ms=100)).values():
                for r in records:
                    print(r.value.decode())
            sys.stdout.flush()
    finally:
        await consumer.stop()


asyncio.run(main(*sys.argv[1:]))
