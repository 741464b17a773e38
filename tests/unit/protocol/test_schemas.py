"""The shipped schemas, and the text of faults."""

import json
from importlib import resources

import jsonschema
import pytest

from hmxgraph.errors import NotFound
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.document import SCHEMA_NAMES, content_faults, schema, schema_text
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Envelope, Fingerprint
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.parsing import describe, json_path
from hmxgraph.protocol.records import TaskRecord

MODELS = (Event, Artifact, ContextPack, Fingerprint, Envelope, TaskRecord)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_schemas_are_schemas(name):
    """Every shipped schema is a valid one of 2020-12, under its own address."""
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"https://hippocortex.dev/schemas/hmx-1.0/{name}.json"
    assert json.loads(schema_text(name)) == schema(name)


def test_every_packaged_schema_is_named():
    """The names are those of the packaged files, in order."""
    folder = resources.files("hmxgraph.protocol") / "schemas"
    assert tuple(sorted(file.name.removesuffix(".json") for file in folder.iterdir())) == SCHEMA_NAMES


def test_schemas_are_the_callers():
    """Changing a returned schema does not change the packaged one."""
    schema("event").clear()
    assert schema("event")["title"] == "HMX Event"


def test_unknown_name_lists_the_names():
    """The error for an unknown name lists the known ones."""
    with pytest.raises(NotFound, match="choose one of artifact, artifact-content, context-pack"):
        schema("evnt")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_models_and_schemas_list_the_same_fields(model):
    """Fields of a model and properties of its schema are the same, and so are the required ones."""
    described = model.SPECIFICATION.structure.schema
    required = {name for name, info in model.model_fields.items() if info.is_required()}
    assert set(model.model_fields) == set(described["properties"])
    assert required == set(described["required"])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_clause_is_for_a_field(model):
    """No clause belongs to a field that does not exist."""
    structure = model.SPECIFICATION.structure
    tops = {path.split(".")[0] for path in structure.clauses if path}
    assert tops <= set(structure.schema["properties"])


def test_content_faults_name_type_and_path():
    """Deviations from the content of a type are reported with the clause of that type."""
    faults = content_faults("artifact", "task_schema", {"steps": [{"order": 1}], "estimated_complexity": "vast"})
    assert [str(fault) for fault in faults] == [
        "$.content.steps[0].description: found nothing, expected a string (HMX-A 4.1)",
        "$.content.estimated_complexity: found 'vast', expected one of low, medium, high (HMX-A 4.1)",
    ]
    assert content_faults("artifact", "x-acme-note", {"steps": 3}) == ()


def test_values_are_described_shortly():
    """Long values are cut, containers only named."""
    assert [describe(value) for value in (True, 1.5, {"a": 1}, (1,))] == ["true", "1.5", "an object", "an array"]
    assert len(describe("x" * 1000)) < 50


def test_paths_quote_odd_names():
    """Names that are not identifiers are quoted."""
    assert json_path("a", 0, "b c", "") == "$.a[0]['b c']['']"
