// Add counts to hours of the tenant's usage.
//
// mode: write
// row:  hours
UNWIND $hours AS row
MERGE (hour:UsageHour {key: row.key})
  ON CREATE SET
    hour.tenant_id = $tenant_id,
    hour.hour_us = row.hour_us,
    hour.ingested = 0,
    hour.duplicates = 0,
    hour.errors = 0,
    hour.syntheses = 0,
    hour.compilations = 0
SET
  hour.ingested = hour.ingested + row.ingested,
  hour.duplicates = hour.duplicates + row.duplicates,
  hour.errors = hour.errors + row.errors,
  hour.syntheses = hour.syntheses + row.syntheses,
  hour.compilations = hour.compilations + row.compilations
RETURN count(hour) AS hours
