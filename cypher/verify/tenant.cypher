// A tenant's counter of events (counted) and their actual number (stored), its logical time and that of its latest
// event: one row.
//
// mode: read
// row:  counted, stored, logical_us, latest_us
MATCH (tenant:Tenant {key: $tenant_key, tenant_id: $tenant_id})
CALL () {
  MATCH (event:Event)
  USING INDEX SEEK event:Event(tenant_id, time_us)
  WHERE event.tenant_id = $tenant_id AND event.time_us IS NOT NULL
  RETURN count(event) AS stored, max(CASE WHEN event.erased IS NULL AND event.ahead IS NULL THEN event.time_us END) AS latest_us
}
RETURN tenant.event_count AS counted, stored, tenant.logical_us AS logical_us, latest_us
