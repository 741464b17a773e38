// Read every session again when a tenant is compiled next: summaries now name the sources of each identifier in a list
// of objects. The summary version alone would delay this until a new event arrives.
//
// mode: write
// row:  -
