"""Server-sent events: after which message another reader resumes."""

import asyncio

from hmxgraph.ingest.streams.sse import SseStream


def test_another_process_can_resume_after_the_last_id():
    """``last_stored`` passes over no message that waits while later ones are stored, or that is delivered again."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        writer.writelines(f"id: {number}\ndata: x\n\n".encode() for number in range(1, 5))
        await writer.drain()
        writer.close()

    async def run():
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as sender:
            stream = SseStream(f"http://127.0.0.1:{sender.sockets[0].getsockname()[1]}/events")
            earlier = [delivery.receipt async for delivery in stream]
            receipts = [delivery.receipt async for delivery in stream]
            reached = []
            for stored in (earlier, receipts[1:2], receipts[3:], receipts[:1], receipts[2:3]):
                await stream.acknowledge(stored)
                reached.append(stream.last_stored)
            return reached

    assert asyncio.run(run()) == ["", "", "", "2", "4"]
