// Records on data sets of a name, by time: of such edges only those of records have a time.
//
// mode: schema
// row:  -
CREATE INDEX use_of_dataset_name IF NOT EXISTS
FOR ()-[r:USES_DATASET]-() ON (r.tenant_id, r.name, r.created_us)
