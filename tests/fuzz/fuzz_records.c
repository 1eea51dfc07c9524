/* fuzz_records.c - any bytes as a trace, all its records and their fields. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

static void look_at_fields(const struct tw_field *fields, size_t count, bool named)
{
	for (size_t i = 0; i < count; i++) {
		const struct tw_field *field = &fields[i];
		fuzz_require((field->name != NULL) == named, "a name of the field");
		if (field->type == TW_FIELD_TEXT || field->type == TW_FIELD_BYTES)
			fuzz_touch((const uint8_t *)field->value.bytes, field->size);
		else if (field->type == TW_FIELD_ARRAY || field->type == TW_FIELD_OBJECT)
			look_at_fields(field->value.fields, field->size, field->type == TW_FIELD_OBJECT);
	}
}

static void look_at(const struct tw_record *record)
{
	fuzz_require(record->kind != NULL, "a kind");
	look_at_fields(record->fields, record->field_count, true);
}

FUZZ_TARGET(records, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct tw_read_options options = fuzz_options(bytes[0]);
	struct tw_reader *reader = fuzz_open(bytes + 1, size - 1, &options);
	struct tw_record record;
	int status = 0;
	while (reader && (status = tw_read_record(reader, &record)) > 0)
		look_at(&record);
	if (reader)
		fuzz_good(reader, status);
	tw_close(reader);
	return 0;
}
