// The tenant's state: its version, logical time, number of events, the last version that was compiled, and the version
// of the summaries that it was compiled from; the hash of the stated policies that artifacts were compared with.
//
// mode: read
// row:  state_version, logical_us, event_count, compiled_version, compiled_summaries, compared_policies
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
RETURN
  tenant.state_version AS state_version,
  tenant.logical_us AS logical_us,
  tenant.event_count AS event_count,
  tenant.compiled_version AS compiled_version,
  tenant.compiled_summaries AS compiled_summaries,
  tenant.compared_policies AS compared_policies
