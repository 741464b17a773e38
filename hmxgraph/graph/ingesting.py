"""One ingest call: while the server writes a batch, the next one is read, checked and prepared."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, aclosing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from io import FileIO
from pathlib import Path
from stat import S_ISREG
from time import monotonic, perf_counter
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypedDict, TypeVar, cast

from hmxgraph.errors import Fault, GraphError, IngestRefused, InvalidRequest, ParentLoop, UnknownChoice
from hmxgraph.formats.conversion import Origin
from hmxgraph.graph._events import extractions_of, record, without
from hmxgraph.graph.importing import Importing, chosen_format, is_document
from hmxgraph.graph.plan import Tenancy, Work, stored_mask_key
from hmxgraph.ingest.batch import SIZE, Batch, BatchBuilder, OpenBatch, delivery_groups
from hmxgraph.ingest.intake import ON_ERROR, Clock, Intake, OnError, dead_letter
from hmxgraph.ingest.prepare import PreparedEvent
from hmxgraph.ingest.sources import LINGER, LONGEST, Arrival, Delivery, Payload, Source, deliveries, reads, reads_once
from hmxgraph.ingest.streams.stream import Stream
from hmxgraph.ingest.window import SECONDS, Held, ReorderWindow
from hmxgraph.protocol.parsing import checked_integer, quoted
from hmxgraph.protocol.reports import BatchReceipt, IngestReport, Rejection, Tally
from hmxgraph.text.terms import DEFAULT_ENCODING, counter

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Blocking work, done in threads outside the event loop.

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Run *function* in a daemon thread and return its result; nobody waits for the thread if the call is cancelled.

    Threads of the event loop's own pool are joined when the program ends: the program would hang if the function waited
    for input that never comes.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = copy_context()

    def deliver(settle: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            settle(outcome)

    def work() -> None:
        settle: Callable[[Any], None] = future.set_result
        outcome: Any
        try:
            outcome = context.run(function, *arguments)
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            settle, outcome = future.set_exception, error
        with suppress(RuntimeError):  # the loop is closed: nobody awaits the result
            loop.call_soon_threadsafe(deliver, settle, outcome)

    threading.Thread(target=work, daemon=True).start()
    return await future


# Batches prepared for writing: everything that needs no answer from the server is done before a transaction begins.

# Ingest calls in several threads share one interpreter. If all prepared simultaneously, their first batches would be
# ready only at the end, with the server idle until then, and a writer that holds database locks would wait for the
# interpreter after each answer. One at a time, the first batch is written while the second is prepared. The lock is
# held for one batch, never while a source is read: a source may itself wait for another ingest.
_preparing = threading.Lock()


def prepared(
    arrivals: Iterable[Arrival], intake: Intake, *, size: int = SIZE, parts: int = 1
) -> Iterator[Batch | None]:
    """The batches of *arrivals*, with what was extracted from their events; a process prepares one batch at a time.

    Sessions are divided into *parts*, one for each writer; a batch belongs to one part. Yields None when the source has
    nothing ready, so that the caller can settle stored batches before it waits.
    """
    builder = BatchBuilder(intake, size=size, parts=parts)
    for group in delivery_groups(arrivals, size=size):
        batches = builder.take(group)
        while (batch := _next(batches)) is not None:
            yield batch
        if group.lull:
            yield None


def _next(batches: Iterator[Batch]) -> Batch | None:
    """The next batch, with its extractions, ready to be written; None if there is no more."""
    with _preparing:
        batch = next(batches, None)
        return None if batch is None else replace(batch, extracted=extractions_of(batch.events))


# Asynchronous sources: messages pass the reorder window, are stored in batches, and acknowledged after the commit.


async def streamed(
    source: AsyncIterable[Any], intake: Intake, *, size: int, window_seconds: float
) -> AsyncGenerator[Batch, None]:
    """The batches of *source*, each as soon as it is full, has waited too long, or the source has nothing ready.

    An event that continues its session is not kept waiting; an event that overtook others waits for them at most
    *window_seconds*. If the source fails, the batches of everything it delivered come before its error is raised.
    """
    flow = _Flow(intake, size, ReorderWindow(window_seconds))
    messages = aiter(source)
    next_message = asyncio.ensure_future(anext(messages))
    try:
        while True:
            await asyncio.wait({next_message}, timeout=flow.longest_wait())
            if idle := not next_message.done():
                flow.release()
            else:
                flow.take(next_message.result())
                next_message = asyncio.ensure_future(anext(messages))
            for batch in flow.due(idle=idle):
                yield batch
    except StopAsyncIteration:
        for batch in flow.remaining():
            yield batch
    except Exception:
        for batch in flow.remaining():
            yield batch
        raise
    finally:
        await _cancel(next_message)


async def _cancel(future: "asyncio.Future[Any]") -> None:
    future.cancel()
    await asyncio.wait({future})
    if not future.cancelled():
        future.exception()  # otherwise asyncio logs it as never retrieved


class _Flow:
    """The stages from a stream to the graph: intake, reorder window, batches being assembled."""

    def __init__(self, intake: Intake, size: int, window: ReorderWindow) -> None:
        self._intake = intake
        self._window = window
        self._open_batch = OpenBatch(size)
        self._ready: list[Batch] = []
        self._opened_at = 0.0
        self._line = 0

    def take(self, message: Delivery | Payload) -> None:
        """Check and prepare *message*; a rejected message skips the reorder window."""
        self._line += 1
        now = monotonic()
        delivery = message if isinstance(message, Delivery) else Delivery(message, self._line)
        event = self._intake.take(delivery)
        if event is None:
            self._open_batch.owe(delivery.receipt)
        else:
            self._gather(self._window.add(event, delivery.receipt, now))
        self._gather(self._window.release(now))

    def release(self) -> None:
        """Release from the window the messages that have waited long enough."""
        self._gather(self._window.release(monotonic()))

    def longest_wait(self) -> float | None:
        """Maximum seconds to wait for the next message; None without a limit."""
        release_seconds = self._window.wait(monotonic())
        if self._open_batch.empty:
            return release_seconds
        return LINGER if release_seconds is None else min(LINGER, release_seconds)

    def due(self, *, idle: bool) -> list[Batch]:
        """The batches to be written now: full ones, and the open one if it waited too long or *idle* is set."""
        if not self._open_batch.empty and (idle or monotonic() - self._opened_at > LONGEST):
            self._ready.append(self._open_batch.batch())
        ready, self._ready = self._ready, []
        return ready

    def remaining(self) -> list[Batch]:
        """The batches with everything gathered so far, including the events in the window."""
        self._gather(self._window.flush())
        return self.due(idle=True)

    def _gather(self, released: Iterable[Held]) -> None:
        for held in released:
            if self._open_batch.empty:
                self._opened_at = monotonic()
            self._open_batch.add(held.event)
            self._open_batch.owe(held.receipt)
            if self._open_batch.full:
                self._ready.append(self._open_batch.batch())


# One ingest call: its options, and how batches are stored and settled.

Transact: TypeAlias = Callable[[Work[Any]], Any]
TransactAsync: TypeAlias = Callable[[Work[Any]], Awaitable[Any]]
Progress: TypeAlias = Callable[[int], object]
_END: Final = object()


# How far imported events may be ahead of the clock: some machines record local time as UTC.
IMPORT_TOLERANCE: Final = timedelta(hours=24)


class IngestChoices(TypedDict, total=False):
    """The keyword arguments of ``ingest``; defaults are those of :class:`IngestOptions`."""

    format: str | None
    session_id: str | None
    agent_id: str | None
    user_id: str | None
    on_error: OnError
    rejects: str | Path | None
    batch_size: int
    window_seconds: float
    writers: int
    tokenizer: str
    progress: Progress | None
    rehome: bool
    tolerance: timedelta


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to ingest: which format, what to do about bad lines, how many events a transaction holds.

    ``format`` names the format, which is otherwise recognised. ``session_id``, ``agent_id`` and ``user_id`` are for
    records of other formats that do not name their own. ``rejects`` is the file for rejected lines, ``progress`` is
    called with the number of lines settled so far, and ``tokenizer`` names the encoding with which the tokens of texts
    are counted. The last events of a source, if fewer than half a batch, are added to the previous batch. ``writers``
    is the number of writers among which the sessions are divided.

    ``rehome`` stores events that name another tenant under this one; without it they are rejected. ``clock`` returns
    the caller's time in microseconds. Events dated more than ``tolerance`` after that time are stored and reported, but
    nothing is extracted from them, and they do not advance the tenant's logical time. ``window_seconds`` is how long at
    most an event of a stream waits for earlier events that it overtook; events of other sources are ordered within each
    batch. ``memory`` holds the state kept between calls that read one source piece by piece.

    Raises:
        UnknownChoice: there is no such ``format`` or ``on_error``.
        InvalidRequest: a batch size or number of writers is not a whole number of 1 or more, or the window is not a
            number of 0 or more.

    """

    format: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    user_id: str | None = None
    on_error: OnError = "report"
    rejects: str | Path | None = None
    batch_size: int = SIZE
    window_seconds: float = SECONDS
    writers: int = 1
    tokenizer: str = DEFAULT_ENCODING
    progress: Progress | None = None
    rehome: bool = False
    tolerance: timedelta = IMPORT_TOLERANCE
    clock: Clock | None = None
    memory: "SourceMemory | None" = None

    def __post_init__(self) -> None:
        chosen_format(self.format)
        if self.on_error not in ON_ERROR:
            raise UnknownChoice("on_error", str(self.on_error), ON_ERROR)
        for name, number in (("batch_size", self.batch_size), ("writers", self.writers)):
            checked_integer(name, number, "a positive number", 1)
        window: object = self.window_seconds
        if not isinstance(window, int | float) or not window >= 0:  # also refuses NaN
            raise InvalidRequest("window_seconds", quoted(window), "a window length", "give 0 or more")


@dataclass(slots=True)
class SourceMemory:
    """The state of sources that are read piece by piece: formats and the state of converters, by source."""

    formats: dict[str, str] = field(default_factory=dict)
    carried: dict[str, Any] = field(default_factory=dict)


def _arrivals(tally: Tally, source: Source, options: IngestOptions) -> Iterator[Arrival]:
    """The events of *source*.

    Other formats are converted if the source is a document (path, file object or bytes), or a format or a memory is
    given.
    """
    arrivals = deliveries(source)
    if options.format is None and options.memory is None and not is_document(source):
        return arrivals
    memory = options.memory or SourceMemory()
    importing = Importing(
        tally,
        chosen_format(options.format),
        Origin(options.session_id, options.agent_id, options.user_id),
        options.clock() if options.clock else None,
        memory.carried,
        memory.formats,
    )
    return importing.events(arrivals)


def ingest(transact: Transact, tenancy: Tenancy, source: Source, options: IngestOptions) -> IngestReport:
    """Store the events of *source* and report the outcome; batches are prepared in this thread, written in others."""
    began = perf_counter()
    tally = Tally(tenancy.tenant_id)
    with ExitStack() as closing:
        intake = closing.enter_context(_intake(tally, source, options, tenancy))
        arrivals = _arrivals(tally, source, options)
        batches = prepared(arrivals, intake, size=options.batch_size, parts=options.writers)
        writers = [closing.enter_context(ThreadPoolExecutor(1)) for _ in range(options.writers)]
        writing: dict[int, Future[BatchReceipt]] = {}
        closing.enter_context(_stored_before(tally, writing))
        for batch in batches:
            for part in [part for part, future in writing.items() if _due(future, part, batch)]:
                _settle(tally, writing.pop(part).result(), options, intake)
            if batch is None:
                continue
            work = partial(_store_batch, transact, tenancy, batch, options)
            writing[batch.part] = writers[batch.part].submit(copy_context().run, work)
        for _, written in sorted(writing.items()):
            _settle(tally, written.result(), options, intake)
    return tally.report(perf_counter() - began)


@contextmanager
def _stored_before(tally: Tally, writing: Mapping[int, Future[BatchReceipt]] = MappingProxyType({})) -> Iterator[None]:
    """If the call fails, finish the batches in *writing*, and add to the error how much is stored."""
    try:
        yield
    except (GraphError, IngestRefused) as error:
        for future in writing.values():
            if future.exception() is None:
                tally.add(future.result())
        if not error.stored:
            error.stored = f"{tally.settled:,} lines are stored or accounted for"
        raise


async def ingest_async(
    transact: TransactAsync, tenancy: Tenancy, source: Source | AsyncIterable[Any], options: IngestOptions
) -> IngestReport:
    """The awaitable twin of :func:`ingest`, which reads asynchronous sources and streams as well."""
    began = perf_counter()
    tally = Tally(tenancy.tenant_id)
    async with AsyncExitStack() as closing:
        if isinstance(source, Stream):
            closing.push_async_callback(source.close)
        intake = closing.enter_context(_intake(tally, source, options, tenancy))
        store = _Store(transact, tenancy, source, options, intake)
        batches = await closing.enter_async_context(aclosing(_batches(tally, source, intake, options)))
        closing.enter_context(_stored_before(tally))
        await _write(batches, store, tally)
    return tally.report(perf_counter() - began)


async def _write(batches: AsyncGenerator[Batch | None, None], store: "_Store", tally: Tally) -> None:
    """Store each batch while the next one is prepared; batches of one part are stored one after another."""
    writing: dict[int, asyncio.Task[BatchReceipt]] = {}
    try:
        async for batch in batches:
            for part in [part for part, task in writing.items() if _due(task, part, batch)]:
                _settle(tally, await writing.pop(part), store.options)
            if batch is None:
                continue
            writing[batch.part] = asyncio.create_task(store(batch))
    finally:
        last = await asyncio.gather(*writing.values(), return_exceptions=True)
        for receipt in last:
            if isinstance(receipt, BatchReceipt):
                _settle(tally, receipt, store.options)
    if errors := [receipt for receipt in last if isinstance(receipt, BaseException)]:
        raise errors[0]


@dataclass(frozen=True, slots=True)
class _Store:
    """Writes a batch, then acknowledges it if the source needs that."""

    transact: TransactAsync
    tenancy: Tenancy
    source: Any
    options: IngestOptions
    intake: Intake

    async def __call__(self, batch: Batch) -> BatchReceipt:
        receipt = BatchReceipt()
        if batch.events:
            receipt = await _store_batch_async(self.transact, self.tenancy, batch, self.options)
            self.intake.account(receipt)
        if batch.receipts and isinstance(self.source, Stream):
            await self.source.acknowledge(batch.receipts)
        return receipt


async def _batches(
    tally: Tally, source: Source | AsyncIterable[Any], intake: Intake, options: IngestOptions
) -> AsyncGenerator[Batch | None, None]:
    if isinstance(source, AsyncIterable):
        size, window = options.batch_size, options.window_seconds
        async with aclosing(streamed(source, intake, size=size, window_seconds=window)) as stream_batches:
            async for batch in stream_batches:
                yield batch
        return
    arrivals = _arrivals(tally, source, options)
    ready = prepared(arrivals, intake, size=options.batch_size, parts=options.writers)
    while (prepared_batch := await in_thread(next, ready, _END)) is not _END:
        yield cast("Batch | None", prepared_batch)


def _due(written: Future[BatchReceipt] | asyncio.Task[BatchReceipt], part: int, batch: Batch | None) -> bool:
    """Whether the batch of *part* that is being written must be settled now.

    That is so if *batch* is the next one of this part, or if the source is idle (None) and the writing is done.
    """
    return written.done() if batch is None else part == batch.part


def _work(tenancy: Tenancy, batch: Batch, options: IngestOptions) -> Work[BatchReceipt]:
    latest_us = options.clock() + as_microseconds(options.tolerance) if options.clock else None
    return Work("write", partial(record, tenancy, batch, strict=options.on_error == "raise", latest_us=latest_us))


def _store_batch(transact: Transact, tenancy: Tenancy, batch: Batch, options: IngestOptions) -> BatchReceipt:
    """Store *batch* and return its receipt; an event whose chain of causes leads back to it is rejected.

    Raises:
        IngestRefused: ``on_error`` is ``"raise"``, and an event would be its own cause, or has the id of another event
            but not its content (see `record`).

    """
    refused: tuple[PreparedEvent, ...] = ()
    while True:
        try:
            return _with_refused(transact(_work(tenancy, batch, options)), refused)
        except ParentLoop as error:
            batch, refused = _without_loops(batch, refused, error, options)


async def _store_batch_async(
    transact: TransactAsync, tenancy: Tenancy, batch: Batch, options: IngestOptions
) -> BatchReceipt:
    """The awaitable twin of :func:`_store_batch`."""
    refused: tuple[PreparedEvent, ...] = ()
    while True:
        try:
            return _with_refused(await transact(_work(tenancy, batch, options)), refused)
        except ParentLoop as error:
            batch, refused = _without_loops(batch, refused, error, options)


def _without_loops(
    batch: Batch, refused: tuple[PreparedEvent, ...], error: ParentLoop, options: IngestOptions
) -> tuple[Batch, tuple[PreparedEvent, ...]]:
    remaining, more = without(batch, error.event_ids)
    if options.on_error == "raise" and more:
        source, line = more[0].place
        raise IngestRefused(source or "source", str(error), line) from error
    return remaining, (*refused, *more)


def _with_refused(receipt: BatchReceipt, refused: Sequence[PreparedEvent]) -> BatchReceipt:
    return receipt._replace(refused=tuple((_own_cause(event), event.event.document()) for event in refused))


def _own_cause(event: PreparedEvent) -> Rejection:
    parent = repr(event.event.parent_event_id)
    fault = Fault(
        "$.parent_event_id", "HMX-E 2.2", parent, "an event that this one does not cause, directly or indirectly"
    )
    return Rejection(*event.place, event.event.event_id, (fault,))


def as_microseconds(tolerance: timedelta) -> int:
    """The microseconds of a tolerance.

    Raises:
        InvalidRequest: it is not a timedelta, or negative.

    """
    if not isinstance(tolerance, timedelta) or tolerance < timedelta(0):
        raise InvalidRequest("tolerance", f"{tolerance!r:.60}", "timedelta of 0 or more", "omit it for the default")
    return tolerance // timedelta(microseconds=1)


def _settle(tally: Tally, receipt: BatchReceipt, options: IngestOptions, intake: Intake | None = None) -> None:
    """Count a batch that was stored, and report progress."""
    tally.add(receipt)
    if intake:
        intake.account(receipt)
    if options.progress:
        options.progress(tally.settled)


@contextmanager
def _intake(tally: Tally, source: Any, options: IngestOptions, tenancy: Tenancy) -> Iterator[Intake]:
    count = counter(options.tokenizer)
    make_intake = partial(
        Intake,
        tally,
        count,
        tokenizer=options.tokenizer,
        on_error=options.on_error,
        clock=options.clock,
        rehome=options.rehome,
        skew_us=as_microseconds(options.tolerance),
        mask_key=stored_mask_key(tenancy),
    )
    if options.rejects is None:
        yield make_intake()
        return
    with _rejects(Path(options.rejects), source) as file:

        def refuse(rejection: Rejection, payload: Payload | None) -> None:
            _append(dead_letter(rejection, payload), file, options.rejects)

        yield make_intake(refuse=refuse)


def _append(line: bytes, file: FileIO, path: str | Path | None) -> None:
    """Write *line* at once: after the acknowledgement the stream no longer has it."""
    unwritten = memoryview(line)
    try:
        while unwritten:
            unwritten = unwritten[file.write(unwritten) :]
    except OSError as error:
        raise _not_writable(path, error) from error


def _rejects(path: Path, source: Any) -> FileIO:
    """The file for rejected lines, locked against other calls; emptied, unless *source* can be read only once."""
    if reads(source, path):
        raise IngestRefused(str(path), "rejected lines would be written into the source; choose another file")
    try:
        file = path.open("ab+", buffering=0)
    except OSError as error:
        raise _not_writable(path, error) from error
    try:
        if S_ISREG(os.fstat(file.fileno()).st_mode):
            _lock(file, path)
            _make_ready(file, keep=reads_once(source))
    except BaseException:
        file.close()
        raise
    return file


def _lock(file: FileIO, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        reason = "rejected lines of another ingest are being written there; choose another file"
        raise IngestRefused(str(path), reason) from error


def _make_ready(file: FileIO, *, keep: bool) -> None:
    """Empty *file*; with *keep*, end its last line instead, which a killed process may have left unfinished."""
    if not keep:
        file.truncate(0)
    elif file.seek(0, os.SEEK_END):
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def _not_writable(path: str | Path | None, error: OSError) -> IngestRefused:
    return IngestRefused(str(path), f"rejected lines cannot be written there: {error.strerror or error}")
