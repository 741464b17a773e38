"""Exports of other memories and chats: ChatGPT, mem0, graphiti, and CloudEvents of the real package."""

import json
from datetime import UTC, datetime

import pytest

from hmxgraph.extraction.extract import extract
from hmxgraph.extraction.language import user_key
from hmxgraph.formats.chatgpt import CHATGPT
from hmxgraph.formats.cloudevents import CLOUDEVENTS
from hmxgraph.formats.conversion import Origin
from hmxgraph.formats.graphiti import GRAPHITI
from hmxgraph.formats.mem0 import MEM0
from hmxgraph.protocol.trust import TrustPolicy
from tests.unit.formats.conversions import NEEDED, events, outcomes, recognised, shape

ce_json = pytest.importorskip("cloudevents.core.formats.json", reason=NEEDED)
ce_event = pytest.importorskip("cloudevents.core.v1.event", reason=NEEDED)


def node(node_id, parent, role, parts, second, **fields):
    """A message in the tree of a ChatGPT conversation."""
    message = {
        "id": node_id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_700_000_000.5 + second,
        "content": {"content_type": "text", "parts": parts},
        "recipient": "all",
        "metadata": {},
        **fields,
    }
    return {"id": node_id, "message": message, "parent": parent, "children": []}


def test_a_chatgpt_conversation_is_read_branch_by_branch():
    """Messages are in order of time; abandoned branches are marked; custom instructions become system messages."""
    about = {
        "id": "sys",
        "parent": None,
        "message": {
            "id": "sys",
            "author": {"role": "user"},
            "content": {
                "content_type": "user_editable_context",
                "user_profile": "I use Elixir",
                "user_instructions": "Be brief",
            },
            "metadata": {"is_visually_hidden_from_conversation": True},
        },
    }
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
    conversation = {
        "title": "Trip",
        "create_time": 1_700_000_000.0,
        "conversation_id": "c-1",
        "current_node": "n3",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": []},
            "sys": about,
            "n1": node("n1", "root", "user", ["Where to?"], 0),
            "n2": node("n2", "root", "user", ["Where to in May?", image], 5),
            "n3": node("n3", "n2", "assistant", ["Oslo."], 9),
        },
    }
    made = events(CHATGPT, [conversation])
    assert [shape(event) for event in made] == [
        ("message", "operator", "I use Elixir\nBe brief"),
        ("message", "user", "Where to?"),
        ("message", "user", "Where to in May?"),
        ("message", "assistant", "Oslo."),
    ]
    assert [event.metadata.get("abandoned_branch") for event in made[1:]] == [True, None, None]
    assert made[2].content["attachments"] == [
        {"type": "data", "content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
    ]
    assert {event.session_id for event in made} == {"c-1"}
    assert recognised([conversation]) == "chatgpt"


def test_an_image_that_a_tool_of_chatgpt_returned_is_an_attachment():
    """Its result may be nothing but images."""
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f1"}
    mapping = {"n1": node("n1", None, "tool", [image], 0)}
    (result,) = events(CHATGPT, [{"conversation_id": "c-1", "current_node": "n1", "mapping": mapping}])
    assert result.content["attachments"] == [{"type": "data", **image}]


def test_memories_of_mem0_become_memories():
    """Each memory is a fact with an id of its own, in force where its source is trusted; an update is another event."""
    memory = {
        "id": "m1",
        "memory": "Ana is allergic to nuts",
        "hash": "h",
        "metadata": {"topic": "food"},
        "created_at": "2025-06-01T08:00:00.123456-07:00",
        "updated_at": None,
        "user_id": "ana",
    }
    updated = memory | {"memory": "Ana is allergic to latex", "updated_at": "2025-07-01T08:00:00-07:00"}
    made = events(MEM0, [{"results": [memory]}, updated], Origin())
    assert [shape(event) for event in made] == [
        ("x-hmxgraph-memory", "import", "Ana is allergic to nuts"),
        ("x-hmxgraph-memory", "import", "Ana is allergic to latex"),
    ]
    assert made[0].metadata["user_id"] == "ana"
    assert extract(made[0]).memories == ()
    assert extract(made[0]).proposals[0].kind == "fact"
    (memory_draft,) = extract(made[0], TrustPolicy(trusted=("mem0",))).memories
    assert (memory_draft.kind, memory_draft.owner) == ("fact", user_key("ana"))
    nested = {"id": "m3", "memory": "Ana likes tea", "hash": "h", "metadata": {"user_id": "ana"}}
    assert events(MEM0, [nested], Origin(time_us=1))[0].content["user_id"] == "ana"
    assert "user_id" not in events(MEM0, [nested | {"metadata": {}}], Origin(time_us=1))[0].content
    assert recognised([{"results": [memory]}]) == recognised([memory]) == "mem0"
    assert outcomes(MEM0, [{"id": "m2"}])[0].fault.path == "$.memory"


def test_episodes_and_facts_of_graphiti_are_read():
    """Episodes become messages and observations, facts in force memories, ended facts observations with their end."""
    shared = {"group_id": "g", "valid_at": "2025-01-02T00:00:00Z"}
    lives = {"uuid": "f1", "name": "LIVES_IN", "fact": "Ana lives in Oslo", "episodes": ["e1"]}
    rows = [
        {"uuid": "e1", "name": "chat", "source": "message", "content": "Ana (user): I moved to Oslo", **shared},
        {"uuid": "e2", "source": "json", "content": '{"plan": "pro"}', "source_description": "billing", **shared},
        {"r": shared | lives | {"valid_at": datetime(2025, 1, 2, tzinfo=UTC)}},
        {"uuid": "f2", "fact": "Ana lives in Rome", "episodes": [], **shared, "invalid_at": "2025-01-02T00:00:00Z"},
    ]
    made = events(GRAPHITI, rows, Origin())
    assert [shape(event) for event in made] == [
        ("message", "user", "I moved to Oslo"),
        ("observation", "tool", ""),
        ("x-hmxgraph-memory", "import", "Ana lives in Oslo"),
        ("observation", "import", "Ana lives in Rome (no longer true since 2025-01-02)"),
    ]
    assert made[0].metadata["author"] == made[0].metadata["user_name"] == "Ana"
    assert made[1].content["data"] == {"plan": "pro"}
    assert {event.session_id for event in made} == {"graphiti/g"}
    assert recognised(rows) == "graphiti"


def test_a_fact_of_graphiti_with_an_end_to_come_is_in_force():
    """A fact whose end lies after the time of its source is a memory until then."""
    ends = {"past": "2025-01-02T00:00:00Z", "to come": "2099-01-01T00:00:00Z"}
    rows = [{"uuid": name, "fact": f"Ana has a pass ({name})", "invalid_at": end} for name, end in ends.items()]
    ended, held = events(GRAPHITI, rows)
    assert shape(ended)[2] == "Ana has a pass (past) (no longer true since 2025-01-02)"
    assert shape(held) == ("x-hmxgraph-memory", "import", "Ana has a pass (to come)")
    assert held.content["expires"] == "2099-01-01T00:00:00Z"


def test_cloudevents_become_events():
    """Events have HMX-E's type if theirs ends in it, become messages if they hold one, else get a namespaced type."""

    def written(kind, data, number):
        attributes = {
            "id": str(number),
            "source": "/shop",
            "type": kind,
            "specversion": "1.0",
            "time": datetime(2026, 3, 14, 3, tzinfo=UTC),
            "datacontenttype": "application/json",
        }
        return json.loads(ce_json.JSONFormat().write(ce_event.CloudEvent(attributes, data)))

    records = [
        written("com.shop.order.created", {"order_id": "W1"}, 1),
        written("com.shop.chat", {"role": "user", "content": "Where is it?"}, 2),
        written("com.shop.error", {"message": "boom"}, 3),
    ]
    made = events(CLOUDEVENTS, records, Origin())
    assert [shape(event) for event in made] == [
        ("x-cloudevents-com.shop.order.created", "tool", ""),
        ("message", "user", "Where is it?"),
        ("error", "tool", "boom"),
    ]
    assert [event.event_id for event in made] == [f"/shop/{number}#0" for number in (1, 2, 3)]
    assert not any(event.warnings for event in made)
    assert recognised(records) == "cloudevents"
    assert outcomes(CLOUDEVENTS, [{"specversion": "1.0", "id": "1"}])[0].fault.actual == "no source, type"
    (extended,) = events(CLOUDEVENTS, [records[0] | {"format": "x", "region": "eu"}], Origin())
    kept = {name: extended.metadata[name] for name in ("format", "cloudevent_format", "region")}
    assert kept == {"format": "cloudevents", "cloudevent_format": "x", "region": "eu"}
