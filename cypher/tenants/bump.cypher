// Raise the version of a tenant's state by one, normally at the end of a transaction that wrote (events/settle does so
// for events).
//
// All writers of the tenant take the lock on this node; taken last, it is held only while the transaction commits.
// The logical clock advances here and in events/settle, and goes back only in retention/rewind.
//
// mode: write
// row:  state_version
MERGE (tenant:Tenant {key: $tenant_key})
  ON CREATE SET
    tenant.tenant_id = $tenant_id,
    tenant.state_version = 0,
    tenant.logical_us = $logical_us,
    tenant.event_count = 0,
    tenant.compiled_version = 0
SET
  tenant.state_version = tenant.state_version + 1,
  tenant.logical_us = CASE WHEN $logical_us > tenant.logical_us THEN $logical_us ELSE tenant.logical_us END
RETURN tenant.state_version AS state_version
