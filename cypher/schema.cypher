// The schema of a new database: constraints and indexes, all created in one transaction when a client connects first.
// Only the vector index is added later, by a client with an embedder (embeddings/index).
//
// Community edition has only uniqueness constraints. A key is the SHA-256 of tenant and id, since ids may be longer
// than an index entry. Databases made by an earlier release are upgraded to it by the steps in schema_upgrades/.
//
// version: 32
// mode: schema
// row:  -

// --- One node per key, for each label ---

// The version of the schema: a single node.
CREATE CONSTRAINT schema_version_name IF NOT EXISTS
FOR (n:SchemaVersion) REQUIRE n.name IS UNIQUE;

CREATE CONSTRAINT tenant_key IF NOT EXISTS
FOR (n:Tenant) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT session_key IF NOT EXISTS
FOR (n:Session) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT event_key IF NOT EXISTS
FOR (n:Event) REQUIRE n.key IS UNIQUE;

// A placeholder for an event that others refer to and that has not arrived yet.
CREATE CONSTRAINT awaited_key IF NOT EXISTS
FOR (n:Awaited) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT entity_key IF NOT EXISTS
FOR (n:Entity) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT memory_key IF NOT EXISTS
FOR (n:Memory) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT artifact_key IF NOT EXISTS
FOR (n:Artifact) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT conflict_key IF NOT EXISTS
FOR (n:Conflict) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT fingerprint_key IF NOT EXISTS
FOR (n:Fingerprint) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT compiler_model_key IF NOT EXISTS
FOR (n:CompilerModel) REQUIRE n.key IS UNIQUE;

// A reader's report on a context pack.
CREATE CONSTRAINT pack_report_key IF NOT EXISTS
FOR (n:PackReport) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT task_record_key IF NOT EXISTS
FOR (n:TaskRecord) REQUIRE n.key IS UNIQUE;

// A filter and its value, such as status=failed, that records are found by.
CREATE CONSTRAINT facet_key IF NOT EXISTS
FOR (n:Facet) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT task_key IF NOT EXISTS
FOR (n:Task) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT run_key IF NOT EXISTS
FOR (n:Run) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT dataset_key IF NOT EXISTS
FOR (n:Dataset) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT challenge_key IF NOT EXISTS
FOR (n:Challenge) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT contributor_key IF NOT EXISTS
FOR (n:Contributor) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT api_key IF NOT EXISTS
FOR (n:ApiKey) REQUIRE n.key IS UNIQUE;

// A request contains the secret of a key; only its hash is stored.
CREATE CONSTRAINT api_key_secret IF NOT EXISTS
FOR (n:ApiKey) REQUIRE n.secret_hash IS UNIQUE;

CREATE CONSTRAINT usage_hour_key IF NOT EXISTS
FOR (n:UsageHour) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT compile_run_key IF NOT EXISTS
FOR (n:CompileRun) REQUIRE n.key IS UNIQUE;

CREATE CONSTRAINT state_key IF NOT EXISTS
FOR (n:State) REQUIRE n.key IS UNIQUE;

// --- Linear chains (HMX-A 7): two writers can never both succeed the same node ---

CREATE CONSTRAINT artifact_supersedes_key IF NOT EXISTS
FOR (n:Artifact) REQUIRE n.supersedes_key IS UNIQUE;

CREATE CONSTRAINT memory_supersedes_key IF NOT EXISTS
FOR (n:Memory) REQUIRE n.supersedes_key IS UNIQUE;

CREATE CONSTRAINT task_record_supersedes_key IF NOT EXISTS
FOR (n:TaskRecord) REQUIRE n.supersedes_key IS UNIQUE;

// One artifact per chain and version. The head is the last entry of a range, however long the chain.
CREATE CONSTRAINT artifact_chain IF NOT EXISTS
FOR (n:Artifact) REQUIRE (n.chain_key, n.version) IS UNIQUE;

// One artifact per tenant, type and content among draft and active. The key is removed when a node leaves
// these two states, so two writers of the same knowledge meet on one node.
CREATE CONSTRAINT artifact_dedup IF NOT EXISTS
FOR (n:Artifact) REQUIRE n.dedup_key IS UNIQUE;

// One current memory per question. Only a memory that nothing has superseded has the key, so two writers of different
// answers meet on one node.
CREATE CONSTRAINT memory_head IF NOT EXISTS
FOR (n:Memory) REQUIRE n.head_key IS UNIQUE;

// --- Full text ---
//
// Texts are stored as stemmed terms, so the analyzer only splits at white space. The tenant's scope token is indexed
// with them and is part of every query, so a search never reads other tenants' hits.

CREATE FULLTEXT INDEX event_text IF NOT EXISTS
FOR (n:Event) ON EACH [n.search_text, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};

CREATE FULLTEXT INDEX knowledge_text IF NOT EXISTS
FOR (n:Artifact|Memory) ON EACH [n.search_text, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};

CREATE FULLTEXT INDEX entity_text IF NOT EXISTS
FOR (n:Entity) ON EACH [n.search_text, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};

CREATE FULLTEXT INDEX record_text IF NOT EXISTS
FOR (n:TaskRecord) ON EACH [n.search_text, n.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}};

// --- Sessions ---

// Sessions that changed since a version of the tenant's state.
CREATE INDEX session_of_tenant IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.changed_version);

// A session by its id, which may be longer than an index entry.
CREATE INDEX session_by_id IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.id_start);

// The latest sessions that were summarised, by the time of their last event.
CREATE INDEX session_by_age IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.summary_us, n.key);

// Pages of sessions: each continues after the last key of the one before.
CREATE INDEX session_by_key IF NOT EXISTS
FOR (n:Session) ON (n.tenant_id, n.key);

// --- Events ---

// Neighbours and ranges within a session.
CREATE INDEX event_in_session IF NOT EXISTS
FOR (n:Event) ON (n.session_key, n.sequence);

CREATE INDEX event_of_tenant IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.time_us);

// A tool result finds its call, however far back.
CREATE INDEX event_call_key IF NOT EXISTS
FOR (n:Event) ON (n.call_key);

// Embeddings of one size, which can be compared.
CREATE INDEX event_embedding IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.embedding_dimension);

// Contains only events that expire and still have content, so finding the expired ones reads no others.
CREATE INDEX event_expiry IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.expires_us);

// Contains only events dated after the clock of the machine that stored them.
CREATE INDEX event_ahead IF NOT EXISTS
FOR (n:Event) ON (n.tenant_id, n.ahead, n.time_us);

// The events that name a user, in order of time.
CREATE INDEX event_of_user IF NOT EXISTS
FOR ()-[r:NAMES_USER]-() ON (r.user_key, r.time_us);

// --- Entities ---

CREATE INDEX entity_of_tenant IF NOT EXISTS
FOR (n:Entity) ON (n.tenant_id, n.type);

// --- Memories ---

CREATE INDEX memory_of_tenant IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.kind);

// Pages of the newest memories.
CREATE INDEX memory_by_time IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.first_us);

// Memories of one kind that `remember` stored, without reading the many that were extracted.
CREATE INDEX memory_by_method IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.extraction_method, n.kind);

// Memories that belong to every pack.
CREATE INDEX memory_pinned IF NOT EXISTS
FOR (n:Memory) ON (n.tenant_id, n.pinned);

// Memories that answer the same question, such as where somebody lives.
CREATE INDEX memory_slot IF NOT EXISTS
FOR (n:Memory) ON (n.slot_key);

// --- Artifacts and conflicts ---

CREATE INDEX artifact_of_tenant IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status);

// Artifacts that the compiler made.
CREATE INDEX artifact_lineage IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status, n.lineage_key);

// Artifacts that can guide a session.
CREATE INDEX artifact_guides IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status, n.guides);

// Artifacts that no compilation has compared yet with others about the same condition or cause.
CREATE INDEX artifact_uncompared IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.status, n.uncompared);

// Pages of the newest artifacts.
CREATE INDEX artifact_recorded IF NOT EXISTS
FOR (n:Artifact) ON (n.tenant_id, n.recorded_us);

// Artifacts about the same condition or cause, which may conflict.
CREATE INDEX artifact_situation IF NOT EXISTS
FOR (n:Artifact) ON (n.situation_key);

// What was compiled from a session, without reading its events.
CREATE INDEX evidence_in_session IF NOT EXISTS
FOR ()-[r:EVIDENCED_BY]-() ON (r.session_key);

// Relations of types that exclude each other.
CREATE INDEX relation_of_type IF NOT EXISTS
FOR ()-[r:RELATES_TO]-() ON (r.tenant_id, r.relation_type);

CREATE INDEX conflict_of_tenant IF NOT EXISTS
FOR (n:Conflict) ON (n.tenant_id, n.status);

// Pages of the newest conflicts, sorted by place, however many were detected at the same time.
CREATE INDEX conflict_place IF NOT EXISTS
FOR (n:Conflict) ON (n.tenant_id, n.status, n.place);

// --- Fingerprints and reports on packs ---

CREATE INDEX fingerprint_of_tenant IF NOT EXISTS
FOR (n:Fingerprint) ON (n.tenant_id, n.direction);

CREATE INDEX pack_report_of_tenant IF NOT EXISTS
FOR (n:PackReport) ON (n.tenant_id, n.at_us);

// --- Task records, in order of time ---

CREATE INDEX task_record_of_tenant IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.created_us);

CREATE INDEX task_record_in_thread IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.thread_id, n.created_us);

CREATE INDEX task_record_on_task IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.task_id, n.created_us);

CREATE INDEX task_record_of_kind IF NOT EXISTS
FOR (n:TaskRecord) ON (n.tenant_id, n.artifact_kind, n.created_us);

// The board of tasks, the latest first.
CREATE INDEX task_of_tenant IF NOT EXISTS
FOR (n:Task) ON (n.tenant_id, n.updated_us);

// The newest records with a facet of any of the eighteen exact filters.
CREATE INDEX record_with_facet IF NOT EXISTS
FOR ()-[r:HAS_FACET]-() ON (r.facet_key, r.created_us);

// --- API keys, usage and compilations, in order of time ---

CREATE INDEX api_key_of_tenant IF NOT EXISTS
FOR (n:ApiKey) ON (n.tenant_id, n.created_us);

CREATE INDEX usage_hour_of_tenant IF NOT EXISTS
FOR (n:UsageHour) ON (n.tenant_id, n.hour_us);

CREATE INDEX compile_run_of_tenant IF NOT EXISTS
FOR (n:CompileRun) ON (n.tenant_id, n.finished_us);

CREATE INDEX state_of_shelf IF NOT EXISTS
FOR (n:State) ON (n.shelf_key);

CREATE INDEX state_of_kind IF NOT EXISTS
FOR (n:State) ON (n.tenant_id, n.kind);
