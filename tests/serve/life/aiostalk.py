# SPDX-License-Identifier: MIT
"""A life cycle through aiostalk: aiostalk.py PORT."""
import asyncio
import sys

sys.path.append(sys.path.pop(0))  # the library, not this file
import aiostalk  # noqa: E402


async def main():
    address = ("127.0.0.1", int(sys.argv[1]))
    async with aiostalk.Client(address, use="life", watch=["life"]) as client, \
            aiostalk.Client(address, use="life", watch=["life"]) as other:
        waiting = asyncio.create_task(client.reserve(timeout=30))
        await other.put("body", priority=5)
        job = await waiting
        print("reserved", job.body)
        await client.release(job, delay=1)
        job = await other.reserve(timeout=30)
        print("by the other", job.body, (await other.stats_job(job))["releases"])
        await other.bury(job)
        print("kicked", await client.kick(5))
        job = await client.reserve(timeout=0)
        await client.delete(job)
        print((await client.stats_tube("life"))["total-jobs"])

asyncio.run(main())
