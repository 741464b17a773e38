"""The draft of a pack: every candidate scored and ranked, before the entries are chosen.

Six terms recur. The *share* of an event is the part of the question's terms, by weight, that it contains. An *example*
is a past session that is shown because its request resembles this one. The *cases* are sessions about a person or thing
that the question names. A *log of many tasks* is a session too long to be shown as one episode: a pack shows only some
of its steps. A procedure is a *guess* if it fits, but less than half of the similar requests led to it. The *routine*
is the actions of the procedures in the pack, except those of a guess.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest
from itertools import chain, compress, islice, repeat

import numpy as np

from hmxgraph.recall._passages import marked_as_superseded, recounted, with_excerpts, with_passages
from hmxgraph.recall._rules import is_lifted, lifted_in, rule_share
from hmxgraph.recall._steps import step_scores
from hmxgraph.recall._times import Span
from hmxgraph.recall._users import Asker, are_colleagues, with_users_named
from hmxgraph.recall.appraised import Appraised, with_tokens
from hmxgraph.recall.candidates import SECTION, THRESHOLD, Candidate, Ranked, RecencyDecay, State
from hmxgraph.recall.event_candidates import Episodes, Sketch, separated, timely
from hmxgraph.recall.knowledge import PROCEDURES, REMEMBERED, KnownArtifact
from hmxgraph.recall.known_candidates import EVIDENCE, evidence_candidates
from hmxgraph.recall.pool import EventPool, Flags, Floats
from hmxgraph.recall.question import (
    PackRequest,
    asks,
    asks_for_present,
    asks_for_value,
    asks_how_it_is,
    asks_permission,
    asks_who,
    sentences,
)
from hmxgraph.recall.relevance import SURE, Ranking, near_best
from hmxgraph.recall.walk import Neighbourhood
from hmxgraph.text.terms import terms

# All candidates of a pack in ranked order.


class GlobalRanking:
    """The events of *episodes* and the *others*, all other candidates, in one ranking by ``Candidate.order``."""

    def __init__(self, episodes: Episodes, others: Sequence[Candidate]) -> None:
        self._episodes = episodes
        self._others = others
        orders = [*chain(episodes.orders(), (other.order for other in others))]
        self._numbers = sorted(range(len(orders)), key=orders.__getitem__)
        self._cache: dict[int, Ranked] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Ranked]:
        return map(self.at, range(1, len(self) + 1))

    def at(self, rank: int) -> Ranked:
        """Return the candidate with this *rank*."""
        ranked = self._cache.get(rank)
        if ranked is None:
            ranked = self._cache[rank] = Ranked(rank, self._candidate(self._numbers[rank - 1]))
        return ranked

    def with_events(self, event_ids: Collection[str]) -> Iterator[Ranked]:
        """Yield the events in *event_ids* and all other candidates, best first."""
        events, ids = len(self._episodes), self._episodes.pool.event_id
        for rank, number in enumerate(self._numbers, start=1):
            if number >= events or ids[number] in event_ids:
                yield self.at(rank)

    def events_beyond(self, event_ids: Collection[str], least: float) -> Iterator[tuple[int, int]]:
        """Yield rank and tokens of the events not in *event_ids* that score at least *least*, best first."""
        events, pool, scores = len(self._episodes), self._episodes.pool, self._episodes.scores
        for rank, number in enumerate(self._numbers, start=1):
            if number < events and pool.event_id[number] not in event_ids:
                if scores[number] < least:
                    return
                yield rank, pool.tokens[number]

    def sketches(self) -> Iterator[Sketch]:
        """Yield a sketch of each event, best first."""
        events = len(self._episodes)
        return (self._episodes.sketch(number) for number in self._numbers if number < events)

    @property
    def source_types(self) -> frozenset[str]:
        """The source types of all candidates."""
        return frozenset(other.source_type for other in self._others) | (
            frozenset({"episode"}) if len(self._episodes) else frozenset()
        )

    def _candidate(self, number: int) -> Candidate:
        events = len(self._episodes)
        return self._episodes.candidate(number) if number < events else self._others[number - events]


# The draft: every candidate scored and ranked.

# Events are compared for duplicates until their tokens exceed the budget by this factor, because duplicates drop out.
_MARGIN = 1.2
# Of events with the same terms and length, at most this many are compared.
_COMPARED_ALIKE = 2
# Minimum and maximum number of events that are compared for duplicates.
_LEAST_COMPARED = 16
_MOST_COMPARED = 1_500
# Maximum number of past sessions shown as examples. If the pack has a procedure, which states what they have in common,
# one is enough.
MOST_SESSIONS = 3
# A later session that repeats a call of an example is shown, too, if a message in it has at least this fraction of the
# largest share of the question in the examples.
_RECURS = 0.5
# Number of sessions that are considered as examples, in multiples of ``MOST_SESSIONS``: some may be copies of others.
_COPIES = 3
# Share of the budget for episodes next to procedures or facts (see ``recall/_episodes.py``), and for cases.
BESIDE_ANSWERS = 0.5
# Share of the budget for logs of many tasks, if the pack has no procedures or facts.
ALONE = 0.8
# Approximate tokens per case.
_TOKENS_OF_CASE = 96
# If a question asks for the latest of something and has at most this many terms ("the last error"), all events count as
# related.
_BARE = 1
# A statement about the question has at least this fraction of the largest share in a message of a person, and at most
# this many tokens.
_STATED, _SHORT_STATEMENT = 0.85, 64
# Next to messages, a step with a smaller fraction of their share of a question for a value is left out.
_SAYS_LITTLE = 0.4
# Maximum number of rules of other users, and their minimum share of the request as a fraction of the largest.
_MOST_RULES, _NEAR_BEST_RULE = 3, 0.5
# A session with at most this many calls may be a note with its filing: "The fuse had tripped", then the closed ticket.
_FEW_CALLS = 2
# The tool and the first argument of a call with several arguments.
_SETTING = re.compile(r"\w+\(\w+=[^,()]+, ")
# The identifier of something that a tool made: "T-305", "INC1042".
_MADE = re.compile(r"\b[A-Za-z]{1,8}[-_]?\d{2,}\b")
# If all examples failed, a session that worked is added if its share of the question is at least this fraction of the
# largest share of the failed ones.
_NEARLY_ALIKE = 0.85
# A procedure with a lower success rate than this failed in most of its sessions.
_LOW_SUCCESS_RATE = 0.5
# Strategies that show only single events, never whole sessions.
_BY_LINE = frozenset({"breadth_first", "depth_first"})


@dataclass(frozen=True)
class Draft:
    """Everything that a pack is assembled from.

    - ``whole``: the full texts of the best events whose texts in the pool are truncated, by event id.
    - ``outcomes``: the last feedback on a session, "positive" or "negative", by session id; known for the best sessions
      and for the sessions of events linked to the best events.
    - ``long_sessions``: the ids of the logs of many tasks.
    - ``results``: the id of each result's call, keyed by the id of the result, where recorded.
    - ``changes``: the tools that change something.
    - ``examples``: the sessions that were fetched as examples or cases, long ones only in part. If empty, any session
      may be used.
    - ``mask_key``: if given, secrets are masked; equal secrets get the same mark, with a hash keyed by it.
    """

    request: PackRequest
    state: State
    events: Ranking
    neighbourhood: Neighbourhood
    appraised: Appraised
    whole: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    long_sessions: frozenset[str] = frozenset()
    results: Mapping[str, str] = field(default_factory=dict)
    changes: frozenset[str] = frozenset()
    examples: frozenset[str] = frozenset()
    mask_key: str = ""

    @cached_property
    def ranking(self) -> GlobalRanking:
        """All candidates of the requested sections, ranked."""
        sections = frozenset(self.request.sections)
        others = [*self.appraised.of_sections(sections), *(self._evidence() if EVIDENCE in sections else ())]
        return GlobalRanking(self._with_passages(self._episodes), others)

    @cached_property
    def _episodes(self) -> Episodes:
        """The scored events; those of :attr:`whole_sessions`, or the best of any session if none, are related.

        If other users stated rules about what a question asks to be allowed, only these rules are related.
        """
        if self._is_ruled:
            return self._scored_events.within(()).with_rules(self._rules_of_others)
        episodes = self._by_steps if self.whole_sessions else self._lines
        if self.events.troubled and self.request.sections != (SECTION,):
            episodes = episodes.of_trouble(self.whole_sessions, repeated=self.events.question.when)
        if self.whole_sessions:
            episodes = self._with_whole_sessions(episodes).within(self.whole_sessions)
        return episodes.with_objections().with_withdrawals().with_rules(self._rules_of_others)

    @property
    def _lines(self) -> Episodes:
        """The events, for a pack that shows the best lines of many sessions instead of whole sessions."""
        lines = self._scored_events.with_results()
        by_time = self.events.question.when or self.events.question.latest or self.events.question.overview
        return lines if by_time else lines.without_repeated_requests(self.request.session_id)

    def _with_passages(self, episodes: Episodes) -> Episodes:
        """Return the events; if they fill most of the budget, long texts are cut to matching passages."""
        weights, count_tokens = self.events.match.weight_by_term, self.appraised.appraisal.count_tokens
        budget = self.request.budget
        return with_passages(episodes, self.whole, weights, budget, count_tokens, self.whole_sessions, self._room)

    @property
    def _room(self) -> int:
        """Maximum number of tokens for past sessions: fewer if the pack has a procedure that is not a guess."""
        return int(self.request.budget * (BESIDE_ANSWERS if self._routine else ALONE))

    def _with_whole_sessions(self, episodes: Episodes) -> Episodes:
        """Return the events; those of :attr:`whole_sessions` get a minimum relevance, or are left out if unhelpful."""
        match, running = self.events.match, self.request.session_id
        past = self.whole_sessions - {running}
        short = past - self.long_sessions
        count_tokens, whole = self.appraised.appraisal.count_tokens, self._scored_events.pool
        episodes = episodes.with_longer_texts(whole, past, match.weight_by_term, count_tokens, self._room)
        episodes = episodes.with_whole_sessions(self.whole_sessions, match.share, running)
        episodes = episodes.with_short_results(short, match.weight_by_term, count_tokens)
        if self.cases:
            return episodes.of_cases(self.cases, self.events.share_of_case, self.changes)
        limit = self._room // max(len(past), 1)
        episodes = episodes.outlined(short, match.share, self.changes, limit, self.events.error.events)
        if self._is_stated(short):
            # Who somebody is, people say.
            least = 1.0 if asks_who(self.events.question.text) else _SAYS_LITTLE
            episodes = episodes.without_idle_steps(short, match.share, least)
        if not self._routine:
            return episodes
        always_shown = self._usually_failed or self.events.question.seeks_advice or self.events.troubled
        special = np.ones(len(episodes), dtype=np.bool_) if always_shown else self.events.with_special_terms
        return episodes.beside_procedure(short, match.share, self._routine, special, self._statements)

    def _is_stated(self, sessions: Collection[str]) -> bool:
        """Whether a message in *sessions* states a value that the question asks for, so that no lookup is needed."""
        question = self.events.question
        asks_value = asks_for_value(question.text) and not (question.works or self.events.troubled)
        return asks_value and any(map(self._states_value, sessions))

    def _states_value(self, session_id: str) -> bool:
        """Whether a message of the session has nearly the largest share of the question, and states something of it.

        Half of that share is in a sentence that asks nothing.
        """
        match, pool = self.events.match, self.events.pool
        messages = ~pool.calls & ~pool.results & pool.spoken
        least = _STATED * match.share[messages].max(initial=0.0)
        weight_by_term = match.weight_by_term

        def states(sentence: str) -> bool:
            share = sum(weight_by_term.get(term, 0.0) for term in set(terms(sentence)))
            return 2 * share >= least * sum(weight_by_term.values()) and not asks(sentence)

        near_best = np.flatnonzero(messages & pool.of_session(session_id) & (match.share >= least) & (match.share > 0))
        return any(states(sentence) for index in near_best.tolist() for sentence in sentences(pool.text[index]))

    @property
    def entities(self) -> tuple[str, ...]:
        """The tenant's entities that the question names, then other names in the question."""
        entities, appraisal = self.appraised.in_force.entities, self.appraised.appraisal
        known_names = sorted(entity.name for entity in entities if appraisal.names(entity.name))
        return tuple(dict.fromkeys([*known_names, *self.events.question.names]))

    @property
    def whole_episode_ids(self) -> frozenset[str]:
        """The ids of the events of :attr:`whole_sessions`, and of messages elsewhere that withdraw what they state."""
        if not self.whole_sessions:
            return frozenset()
        pool = self._scored_events.pool
        shown = pool.of_sessions(self.whole_sessions) | self._episodes.is_related
        return frozenset(compress(pool.event_id, shown.tolist()))

    @cached_property
    def whole_sessions(self) -> frozenset[str]:
        """The sessions shown with their messages, calls and results; if empty, the best lines of any session are shown.

        They are the running session and either all cases or a few examples; none for strategies that show only single
        events.

        Examples are shown if the question calls for them (:attr:`Ranking.wants_examples`) or, unless it asks for a
        time, if the best example is a log of many tasks. The pack must have the sections for episodes and procedures,
        and there must be work with tools or a procedure to show, because conversations are shown line by line.

        - If the pack has a procedure that is not a guess, there is only one example, and the session with the newest
          statement about the question is added. Otherwise, that session is added if it is later than the best example.
        - If the question quotes an error of a known session and all examples failed, a session in which a call of the
          same tool worked is added.
        - If the best example made something, such as a ticket, the last session that worked on it is added.
        - If a call in an example had another result later, the session with its newest result is added.
        - If a similar request later led to one of the examples' calls again, the latest such session is added.
        """
        question, running = self.events.question, self.request.session_id
        if self.cases and not self._is_ruled:
            return frozenset([*self.cases, running] if running else self.cases)
        wants_examples = self.events.wants_examples
        if self._is_ruled or self.request.strategy in _BY_LINE or (question.when and not wants_examples):
            return frozenset()
        if not {SECTION, "procedures"} <= set(self.request.sections):
            return frozenset()
        if not self._procedure_ids and not self._acting:
            return frozenset()
        best = self._best_examples(self._eligible_sessions)
        if not wants_examples and not self.long_sessions.intersection(best[:1]):
            return frozenset()
        distinct = self._by_steps.without_copies(best)
        # Whether something is allowed, rules say; one case may show how they were applied.
        best = list(islice(distinct, 1 if asks_permission(question.text) else MOST_SESSIONS))
        best = [each for each in best if self._states_value(each)] if self._is_stated(best) else best
        best = self._newest_states(best)
        examples = list(best)
        if self._routine:
            best = sorted(best, key=lambda session_id: session_id not in self._sessions_with_special_terms)[:1]
            best += self._session_of_newest_statement
        else:
            best += self._later_than(best[:1], self._session_of_newest_statement)
        if best and self.events.error.sessions and self._failed.issuperset(best):
            best += self._best_examples(self._worked_instead(best))[:1]
        best += self._sequel(best[:1])
        best += self._sessions_of_newer_results(best)
        best += self._latest_recurrence(examples, best)
        return frozenset([*best, running] if running in self.events.pool.session_id else best)

    @property
    def _failed(self) -> frozenset[str]:
        """The sessions whose last feedback was negative."""
        return frozenset(session_id for session_id, outcome in self.outcomes.items() if outcome == "negative")

    def _best_examples(self, eligible: Collection[str]) -> list[str]:
        """Return the best of the *eligible* sessions as examples, best first."""
        guidance = self.appraised.appraisal.guidance
        return self._by_steps.best_sessions(
            _COPIES * MOST_SESSIONS,
            eligible,
            self.events.share_of_request,
            self._failed,
            () if guidance.guesses else guidance.changes,
            self.events.if_failed,
        )

    @property
    def _past_sessions(self) -> frozenset[str]:
        """The past sessions that may be examples: those fetched as examples or, if there are none, all."""
        return (self.examples or frozenset(self.events.pool.session_id)) - {self.request.session_id}

    def _worked_instead(self, failed: Collection[str]) -> frozenset[str]:
        """Return the past sessions without the quoted error that did not fail, and in which the failing tool worked.

        Their messages and calls contain nearly as much of the question as those of any *failed* session.
        """
        pool, shares = self.events.pool, self.events.share_of_session
        tools = {tool[0] for index in self.error_places if (tool := pool.tools[index]) is not None}
        similar = shares >= _NEARLY_ALIKE * shares[pool.of_sessions(failed)].max(initial=0.0)
        past = self._past_sessions - self._failed - self.events.error.sessions
        worked = (similar & pool.with_tools(tools) & pool.successes).tolist()
        return past.intersection(compress(pool.session_id, worked))

    @property
    def _eligible_sessions(self) -> frozenset[str]:
        """The past sessions from which examples are taken: those with the quoted error or, if there are none, all."""
        return self._past_sessions & self.events.error.sessions or self._past_sessions

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """The sessions about a person or thing that the question names, best first, as many as fit half of the budget.

        There are none if the best one is a log of many tasks, of which steps are shown instead, if the strategy shows
        only single events, or if the pack has no episodes or only episodes.
        """
        if self.request.strategy in _BY_LINE or self.request.sections == (SECTION,):
            return ()
        if SECTION not in self.request.sections or not self.events.named_cases.any():
            return ()
        sessions = self.events.case_sessions(len(self.events.pool))
        if self.long_sessions.intersection(sessions[:1]):
            return ()
        fetched = (session_id for session_id in sessions if not self.examples or session_id in self.examples)
        distinct = self._scored_events.without_copies(fetched)
        return tuple(islice(distinct, max(int(self.request.budget * BESIDE_ANSWERS) // _TOKENS_OF_CASE, 1)))

    @property
    def _acting(self) -> bool:
        """Whether work is done with tools: actions are expected, or most events are of sessions with tool results."""
        return bool(self.appraised.appraisal.guidance.expected) or self.events.pool.of_tools

    @cached_property
    def _is_new(self) -> bool:
        """Whether past episodes do not help: the quoted error is unknown or, if none is quoted, the work is new.

        Always false for a request that also asks how something is or was, and for an error in one of several questions,
        because events may answer the other questions.
        """
        question = self.events.question
        is_request = (question.works or not question.recalls) and not asks_how_it_is(question.text)
        if self.events.error.terms:
            return self.events.error.is_unknown and not self.events.has_parts
        return is_request and self._acting and not self._is_known and self.events.is_new(self.request.session_id)

    @property
    def _is_known(self) -> bool:
        """Whether an artifact may be shown for the request, so that the request does not count as new.

        Of 18 requests in everyday words for work done before, this reduced those wrongly classed as new from 6 to 2; of
        36 requests for other work, it reduced those rightly classed as new from 20 to 17.
        """
        return any(candidate.source_type == "artifact" for candidate in self.appraised.useful)

    @cached_property
    def _procedure_ids(self) -> frozenset[str]:
        """The ids of the artifacts (not policies) and task records that the section ``procedures`` may show."""
        useful = self.appraised.useful
        return frozenset(candidate.source_id for candidate in useful if candidate.section == "procedures")

    @cached_property
    def _procedures(self) -> tuple[KnownArtifact, ...]:
        """The procedures that may be shown."""
        artifacts, shown = self.appraised.in_force.artifacts, self._procedure_ids
        return tuple(
            artifact for artifact in artifacts if artifact.artifact_type in PROCEDURES and artifact.artifact_id in shown
        )

    @property
    def error_places(self) -> frozenset[int]:
        """The indexes of the events that report the error quoted in the question."""
        return frozenset(np.flatnonzero(self.events.error.events).tolist())

    @property
    def only_guesses(self) -> bool:
        """Whether the section ``procedures`` can show only the leading procedure, and that procedure is a guess."""
        guidance = self.appraised.appraisal.guidance
        return guidance.guesses and self._procedure_ids == {guidance.lead}

    @property
    def _routine(self) -> frozenset[str]:
        """The actions of the procedures that may be shown, except those of a guess."""
        guidance = self.appraised.appraisal.guidance
        guess = guidance.lead if guidance.guesses else None
        sure_procedures = (procedure for procedure in self._procedures if procedure.artifact_id != guess)
        return frozenset(chain.from_iterable(procedure.actions for procedure in sure_procedures))

    @property
    def _sessions_with_special_terms(self) -> frozenset[str]:
        """The sessions with an event that contains most of the request's special terms."""
        return frozenset(compress(self.events.pool.session_id, self.events.with_special_terms.tolist()))

    @cached_property
    def _statements(self) -> Flags:
        """Which short messages of people in past sessions of few calls have nearly the largest share of the question.

        Such a statement may say what procedures and examples do not: "The lift is repaired, you may use it again".
        Messages that ask for something do not count.
        """
        pool, share = self.events.pool, self.events.share_of_request
        calls = np.bincount(pool.sessions[pool.calls], minlength=pool.sessions.max(initial=0) + 1)
        messages = pool.by_people & ~pool.of_sessions({self.request.session_id or ""})
        near_best = messages & (share > 0) & (share >= _STATED * share[messages].max(initial=0.0))
        near_best &= (np.array(pool.tokens) <= _SHORT_STATEMENT) & (calls[pool.sessions] <= _FEW_CALLS)
        statements: Flags = near_best & ~np.fromiter(map(asks, pool.text), dtype=np.bool_, count=len(pool))
        return statements

    @property
    def _is_ruled(self) -> bool:
        """Whether the question asks if something is allowed, and other users stated rules about it."""
        return asks_permission(self.events.question.text) and bool(self._rules_of_others)

    @cached_property
    def _rules_of_others(self) -> list[int]:
        """The messages of users other than the asker with the rules that match the request best, at most three.

        Only for work with tools and for questions whether something is allowed, and only if the users are colleagues.
        """
        question, pool, asker = self.events.question, self.events.pool, Asker.of(self.events.pool, self.request)
        is_asked = question.works or asks_permission(question.text)
        applies = is_asked and asker.named and self._acting and are_colleagues(pool)
        if self.request.sections == (SECTION,) or not applies:
            return []
        guidance, weights = self.appraised.appraisal.guidance, self.events.known_weights_of_request
        likely = guidance.asked if guidance.guesses else guidance.expected | guidance.asked
        actions = [frozenset(terms(action.replace("_", " "))) for action in sorted(likely)]
        by_others = pool.by_people & ~pool.is_withheld & np.array([*map(asker.is_other, pool.user_id)], dtype=np.bool_)
        shares = {at: rule_share(pool.text[at], weights, actions) for at in np.flatnonzero(by_others).tolist()}
        best = max(shares.values(), default=0.0)
        near_best = [at for at, share in shares.items() if share and share >= _NEAR_BEST_RULE * best]
        lifted = {at: lifted_in(pool.text[at]) for at in np.flatnonzero(pool.by_people).tolist()} if near_best else {}

        def holds(rule: int) -> bool:
            return not is_lifted(pool.text[rule], (lifted[at] for at in lifted if pool.times[at] > pool.times[rule]))

        near_best = [at for at in near_best if holds(at)]
        return nlargest(_MOST_RULES, near_best, key=lambda at: (shares[at], pool.times[at]))

    @property
    def _session_of_newest_statement(self) -> list[str]:
        """The past session with the newest statement about the question; empty if there is none."""
        pool, statements = self.events.pool, np.flatnonzero(self._statements).tolist()
        return [pool.session_id[max(statements, key=lambda index: (pool.times[index], index))]] if statements else []

    def _newest_states(self, sessions: Sequence[str]) -> list[str]:
        """The *sessions* without those in which a value was set that a later one of them set anew.

        Only for a question about the present value of something. A call sets a value if a later call of the same tool
        with the same first argument has other arguments: ``set_rate(currency=CHF, rate=1.07)``.
        """
        question, pool = self.events.question, self.events.pool
        if question.works or question.span or question.when or not asks_for_present(question.text):
            return list(sessions)
        latest = dict[str, tuple[int, str, str]]()
        set_in = {session_id: list[tuple[str, str]]() for session_id in sessions}
        for index in np.flatnonzero(pool.calls & pool.of_sessions(sessions)).tolist():
            if setting := _SETTING.match(pool.text[index]):
                session_id, text = pool.session_id[index], pool.text[index]
                set_in[session_id].append((setting[0], text))
                latest[setting[0]] = max(latest.get(setting[0], (0, "", "")), (pool.time_us[index], session_id, text))

        def is_outdated(session_id: str) -> bool:
            newest = [latest[key] for key, text in set_in[session_id] if latest[key][2] != text]
            return any(later[1] != session_id for later in newest)

        return [session_id for session_id in sessions if not is_outdated(session_id)]

    def _sequel(self, example: Sequence[str]) -> list[str]:
        """The last session that worked on something made in the *example*: the ticket opened there was closed later.

        What was made is named by the identifiers that the result of a change was the first to state.
        """
        pool, made, known = self.events.pool, set[str](), set[str]()
        own, changed = pool.of_sessions(example), pool.with_tools(self.changes) & pool.successes
        for at in np.flatnonzero(own).tolist():
            found = set(_MADE.findall(pool.text[at]))
            made |= found - known if changed[at] else set()
            known |= found
        calls = np.flatnonzero(pool.calls & ~own & ~pool.of_session(self.request.session_id)).tolist() if made else ()
        later = [pool.session_id[at] for at in calls if not made.isdisjoint(_MADE.findall(pool.text[at]))]
        return self._later_than(example, sorted(set(later), key=lambda each: (self._last_times[each], each))[-1:])

    def _later_than(self, example: Sequence[str], sessions: Sequence[str]) -> list[str]:
        """Those of the *sessions* that ended after the *example*; all if there is none."""
        return [each for each in sessions if all(self._last_times[each] > self._last_times[best] for best in example)]

    def _sessions_of_newer_results(self, sessions: Collection[str]) -> list[str]:
        """Return the other sessions in which a call from *sessions* later had another result.

        The result in *sessions* must contain most of the question, and only the newest result of each call counts.
        Empty for a request for work and for a question that names a time, because the current state does not answer
        them.
        """
        pool, question = self.events.pool, self.events.question
        if question.works or question.span is not None:
            return []
        results = [index for index in np.flatnonzero(pool.successes).tolist() if pool.call_of[index] >= 0]
        newest = {
            pool.text[pool.call_of[index]]: index
            for index in sorted(results, key=lambda index: (pool.times[index], index))
        }
        answers = pool.of_sessions(sessions) & (self.events.match.share >= SURE)
        newer = ((index, newest[pool.text[pool.call_of[index]]]) for index in results if answers[index])
        changed = (pool.session_id[new] for index, new in newer if pool.text[new] != pool.text[index])
        return [session_id for session_id in dict.fromkeys(changed) if session_id not in sessions]

    def _latest_recurrence(self, examples: Collection[str], shown: Collection[str]) -> list[str]:
        """Return the latest session after the *examples* with a similar request and one of the same calls, if any.

        Nothing if that session is *shown* anyway.

        If an alert came back, the second incident shows whether the first remedy lasted. Only for a request for work,
        or for a question that quotes an error that the session mentions, and only if the pack has no procedure or just
        a guess.
        """
        pool, last = self.events.pool, self._last_times
        in_examples = pool.of_sessions(examples)
        shares = np.where(pool.by_people, self.events.match.share, 0.0)
        best = shares[in_examples].max(initial=0.0)
        if not best or not (self.events.question.works or self.events.error.terms) or self._routine:
            return []
        similar = pool.in_sessions_of(shares >= _RECURS * best) & pool.in_sessions_of(self.events.error.mentions)
        calls = {text for text in compress(pool.text, (pool.calls & in_examples).tolist()) if "=" in text}
        repeated = pool.calls & similar & np.array([text in calls for text in pool.text], dtype=np.bool_)
        repeats = self._past_sessions.intersection(compress(pool.session_id, repeated.tolist()))
        later = [session_id for session_id in repeats if last[session_id] > max(map(last.__getitem__, examples))]
        latest_first = sorted(later, key=lambda session_id: (last[session_id], session_id), reverse=True)
        distinct = self._by_steps.without_copies([*examples, *latest_first])
        return list(islice((session_id for session_id in distinct if session_id not in shown), 1))

    @cached_property
    def _last_times(self) -> dict[str, int]:
        """The time of the last event of each session, in UTC microseconds."""
        pool, last = self.events.pool, dict[str, int]()
        for session_id, time_us in zip(pool.session_id, pool.time_us, strict=True):
            last[session_id] = max(time_us, last.get(session_id, time_us))
        return last

    @property
    def _usually_failed(self) -> bool:
        """Whether a procedure that may be shown failed in most of its sessions, so that examples are needed, too."""
        return any(
            procedure.success_rate is not None and procedure.success_rate < _LOW_SUCCESS_RATE
            for procedure in self._procedures
        )

    def compared_ids(self) -> frozenset[str]:
        """Return the ids of the best events, somewhat more than fill the budget, to be compared for duplicates.

        Events with the same terms and length are usually duplicates; at most two of them are compared.
        """
        ids: list[str] = []
        tokens = 0
        counts = Counter[tuple[str, int]]()
        for event in self.ranking.sketches():
            if event.score < THRESHOLD:
                break
            if (tokens > _MARGIN * self.request.budget and len(ids) >= _LEAST_COMPARED) or len(ids) >= _MOST_COMPARED:
                break
            words_and_length = (event.words, event.tokens)
            counts[words_and_length] += 1
            if counts[words_and_length] <= _COMPARED_ALIKE:
                ids.append(event.event_id)
            if counts[words_and_length] == 1:
                tokens += event.tokens
        return frozenset(ids)

    @cached_property
    def _by_steps(self) -> Episodes:
        """The scored events; those in logs of many tasks are scored by step."""
        match, scored, question = self.events.match, self._scored_events, self.events.question
        if self.long_sessions.isdisjoint(scored.pool.session_id):
            return scored
        scores = step_scores(
            match,
            self.events.pool,
            self.events.error.events,
            troubled=self.events.troubled,
            ended=question.ended,
            works=question.works,
        )
        return scored.by_steps(scores, match.weight_by_term, self.appraised.appraisal.count_tokens)

    @cached_property
    def _scored_events(self) -> Episodes:
        sections, decay = frozenset(self.request.sections), self.appraised.appraisal.decay
        if SECTION not in sections:
            return Episodes(EventPool(), np.zeros(0), decay)
        relevance = self.events.relevance(self._final_scores)
        weights, count_tokens = self.events.match.weight_by_term, self.appraised.appraisal.count_tokens
        pool = with_users_named(self.events.pool, self.request, count_tokens)
        pool = with_excerpts(pool, self.whole, weights, count_tokens)
        pool = pool if self.request.stored_counts else recounted(pool, count_tokens)
        pool = marked_as_superseded(pool, self.appraised.in_force.superseded, count_tokens)
        withheld = zip(sorted(pool.withheld), repeat("low_relevance"), strict=False)
        verdicts = dict(chain(withheld, self._repeated_records(sections), self._outdated()))
        timeliness = self._timely(decay, pool, relevance)
        related = self._related(decay, pool, relevance)
        if pool.withheld:
            related = ~pool.is_withheld if related is None else related & ~pool.is_withheld
        return Episodes(
            pool,
            separated(relevance, self.events.assurance),
            decay,
            verdicts,
            timeliness,
            related,
            # The last feedback in a log of many tasks is about its last task only.
            {session_id: self.outcomes[session_id] for session_id in self.outcomes.keys() - self.long_sessions},
            self.results,
            self.long_sessions,
        )

    @cached_property
    def _final_scores(self) -> Floats:
        """The scores of the events, including the gains of the walk over shared entities."""
        return self.events.scores(self.neighbourhood)

    def _timely(self, decay: RecencyDecay, pool: EventPool, relevance: Floats) -> Floats | float:
        """Return how much recency counts for each event.

        It counts fully in the running session, for questions that name a time, and for the strategy ``recency_biased``;
        otherwise, it counts less for less relevant events.
        """
        if decay.moment is not None or self.request.strategy == "recency_biased":
            return 1.0
        running = pool.of_session(self.request.session_id)
        best_match = np.maximum(np.maximum(relevance, self.events.words), self.events.match.share)
        return np.where(running, 1.0, timely(best_match, self.events.assurance))

    def _related(self, decay: RecencyDecay, pool: EventPool, relevance: Floats) -> Flags | None:
        """Return which events are about the question; None (all) if only episodes, or the newest events, are wanted.

        A pack of episodes alone is like a search, which returns as many hits as fit. Events of the running session
        always count as related, and so do the most relevant events of a time that the question names, unless the work
        is new. If the question asks only what happened at that time, the events of that time are related, and no others
        except those of the running session.
        """
        question = self.events.question
        by_time = self.request.strategy == "recency_biased" or (question.latest and len(question.terms) <= _BARE)
        if self.request.sections == (SECTION,) or by_time:
            return None
        if self.events.overview.any():
            return self.events.overview | pool.of_session(self.request.session_id)
        related = self.events.related(self._final_scores, relevance, self.request.budget)
        if self._is_new:
            related &= self.events.contain(SURE) & (not self.events.error.is_unknown)
        related &= ~(pool.prompts & pool.of_tools)
        related |= pool.of_session(self.request.session_id)
        if decay.moment is None or self._is_new:
            return related
        of_moment = _events_of_moment(decay.moment, pool, relevance, self.request.budget)
        return related | (of_moment & self.events.may_answer)

    def _repeated_records(self, sections: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Yield (event id, "duplicate") for events with the content of a task record that may itself be included."""
        useful = self.appraised.useful
        usable_ids = {candidate.source_id for candidate in useful if candidate.section in sections}
        for record in self.appraised.in_force.records:
            if record.record_id in usable_ids:
                yield from ((event_id, "duplicate") for event_id in record.reporting_events)

    def _outdated(self) -> Iterator[tuple[str, str]]:
        """Yield (event id, "deprecated") for events that state what no longer holds.

        They state a memory that was deleted, or stored with ``remember`` and no longer held, or a record that was
        replaced or rejected.
        """
        known = self.appraised.in_force
        retired_ids = {memory.memory_id for memory in known.memories if memory.method == REMEMBERED and not memory.held}
        evidence_ids = {evidence.event_id for evidence in known.evidence if evidence.record_id in retired_ids}
        yield from ((event_id, "deprecated") for event_id in sorted(known.deleted | evidence_ids))
        for record in known.records:
            if record.rejected or not record.held:
                yield from ((event_id, "deprecated") for event_id in sorted(record.reporting_events))

    def _evidence(self) -> Iterator[Candidate]:
        """Yield the events that support other candidates, unless they are themselves candidates for ``episodes``."""
        episodes = self.events.pool.index if SECTION in self.request.sections else {}
        candidates = evidence_candidates(self.appraised.in_force, self.appraised.candidates, self.appraised.appraisal)
        count = self.appraised.appraisal.count_tokens
        additional = (candidate for candidate in candidates if candidate.source_id not in episodes)
        asker = Asker.of(self.events.pool, self.request)
        users = {evidence.event_id: evidence.user_id for evidence in self.appraised.in_force.evidence}
        additional = (asker.named_in(candidate, users[candidate.source_id], count) for candidate in additional)
        return additional if self.request.stored_counts else (with_tokens(candidate, count) for candidate in additional)


def _events_of_moment(moment: Span, pool: EventPool, relevance: Floats, budget: int) -> Flags:
    """Return which events of *moment* are nearly as relevant as the best of them; all of them if none is relevant."""
    within: Flags = moment.distances_us(pool.times) == 0
    best = float(relevance[within].max(initial=0.0))
    return within & near_best(np.where(within, relevance, 0.0) / best, budget) if best else within
