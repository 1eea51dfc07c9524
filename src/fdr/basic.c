/* basic.c - the records of a basic log, both ways. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/layout.h"

#include <trackway/fdr.h>

/* Offsets in the 32 bytes. Source: LLVM, xray_records.h, XRayRecord and XRayArgPayload. */
enum { TYPE = 0, CPU = 2, KIND = 3, ID = 4, TSC = 8, THREAD = 16, PROCESS = 20, UNUSED = 24 };
enum { ARG_PAD = 2, ARG_THREAD = 8, ARG_PROCESS = 12, ARG_VALUE = 16 };
static int take_function(const uint8_t *bytes, uint16_t version, bool big, struct tw_basic_record *record)
{
	record->cpu = bytes[CPU];
	record->kind = bytes[KIND];
	record->tsc = tw_load64(bytes + TSC, big);
	record->thread = tw_load32(bytes + THREAD, big);
	if (version >= 3)
		record->process = tw_load32(bytes + PROCESS, big);
	size_t unused = version >= 3 ? UNUSED : PROCESS;
	record->padded = tw_any_set(bytes + unused, TW_BASIC_RECORD_SIZE - unused);
	return record->kind <= TW_FDR_ENTER_ARGS ? 0 : TW_ERR_VALUE;
}

static void take_argument(const uint8_t *bytes, bool big, struct tw_basic_record *record)
{
	record->thread = tw_load32(bytes + ARG_THREAD, big);
	record->process = tw_load32(bytes + ARG_PROCESS, big);
	record->argument = tw_load64(bytes + ARG_VALUE, big);
	record->padded = tw_any_set(bytes + ARG_PAD, 2) || tw_any_set(bytes + UNUSED, TW_BASIC_RECORD_SIZE - UNUSED);
}

int tw_basic_decode(const uint8_t bytes[TW_BASIC_RECORD_SIZE], uint16_t version, enum tw_fdr_layout layout,
                    struct tw_basic_record *record)
{
	bool big = layout != TW_FDR_LITTLE;
	*record = (struct tw_basic_record){
	    .record_type = tw_load16(bytes + TYPE, big),
	    .function_id = (int32_t)tw_load32(bytes + ID, big),
	};
	if (record->record_type == FDR_BASIC_FUNCTION)
		return take_function(bytes, version, big, record);
	if (record->record_type != FDR_BASIC_ARGUMENT)
		return TW_ERR_FORMAT;
	take_argument(bytes, big, record);
	return 0;
}

int tw_basic_encode(const struct tw_basic_record *record, uint16_t version, enum tw_fdr_layout layout,
                    uint8_t bytes[TW_BASIC_RECORD_SIZE])
{
	bool big = layout != TW_FDR_LITTLE;
	if (version < 1 || version > BASIC_VERSION_MAX || (unsigned)layout > TW_FDR_BIG_LSB)
		return TW_ERR_VALUE;
	memset(bytes, 0, TW_BASIC_RECORD_SIZE);
	tw_store16(bytes + TYPE, record->record_type, big);
	tw_store32(bytes + ID, (uint32_t)record->function_id, big);
	if (record->record_type == FDR_BASIC_ARGUMENT) {
		tw_store32(bytes + ARG_THREAD, record->thread, big);
		tw_store32(bytes + ARG_PROCESS, record->process, big);
		tw_store64(bytes + ARG_VALUE, record->argument, big);
		return 0;
	}
	bool known = record->kind <= TW_FDR_ENTER_ARGS && (record->kind != TW_FDR_TAIL_EXIT || version >= 2);
	if (record->record_type != FDR_BASIC_FUNCTION || !known)
		return TW_ERR_VALUE;
	bytes[CPU] = record->cpu;
	bytes[KIND] = record->kind;
	tw_store64(bytes + TSC, record->tsc, big);
	tw_store32(bytes + THREAD, record->thread, big);
	if (version >= 3)
		tw_store32(bytes + PROCESS, record->process, big);
	return 0;
}
