// The recall row of a message (the fields by which packs rank it) ends with the user whom the metadata names. A user id
// that is nested in another object of the metadata, or contains an escaped character, is not recognised here: the row
// stays as it is, and `verify` reports it.
//
// mode: write
// row:  -
MATCH (event:Event)
WHERE event.event_type = 'message' AND event.recall_row IS NOT NULL
WITH
  event,
  [field IN ['"user_id":"', '"userId":"', '"customer_id":"', '"user_name":"'] WHERE event.metadata CONTAINS field][0] AS field
WHERE field IS NOT NULL
WITH event, split(event.metadata, field) AS parts
WITH event, parts[0] AS before, split(parts[1], '"')[0] AS user_id
WHERE size(split(before, '{')) = 2 AND user_id <> '' AND NOT user_id CONTAINS '\\'
  AND NOT event.recall_row ENDS WITH ',"' + user_id + '"]'
SET event.recall_row = left(event.recall_row, size(event.recall_row) - 1) + ',"' + user_id + '"]';
