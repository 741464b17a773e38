// Records on data sets of a version, by time.
//
// mode: schema
// row:  -
CREATE INDEX use_of_dataset_version IF NOT EXISTS
FOR ()-[r:USES_DATASET]-() ON (r.tenant_id, r.version, r.created_us)
