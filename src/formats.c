/* formats.c - all formats that can be read and all that can be written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"
#include "core/format.h"
#include "export/targets.h"
#include "fdr/fdr.h"
#include "fxt/fxt.h"

const struct tw_format *const tw_formats[] = {
    &tw_format_fdr,
    &tw_format_basic,
    &tw_format_fxt,
    &tw_format_chrome,
    NULL,
};

const struct tw_target *const tw_targets[] = {
    &tw_target_fdr,
    &tw_target_basic,
    &tw_target_fxt,
    &tw_target_chrome,
    NULL,
};
