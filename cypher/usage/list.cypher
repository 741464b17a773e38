// The tenant's usage by hour, oldest first.
//
// mode: read
// row:  hour_us, ingested, duplicates, errors, syntheses, compilations
MATCH (hour:UsageHour)
WHERE hour.tenant_id = $tenant_id AND hour.hour_us >= $since_us AND hour.hour_us < $until_us
RETURN
  hour.hour_us AS hour_us,
  hour.ingested AS ingested,
  hour.duplicates AS duplicates,
  hour.errors AS errors,
  hour.syntheses AS syntheses,
  hour.compilations AS compilations
ORDER BY hour_us, hour.key
