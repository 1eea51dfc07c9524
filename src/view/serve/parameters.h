/* parameters.h - the parameters of the addresses under /api. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_PARAMETERS_H
#define VIEW_SERVE_PARAMETERS_H

#include "view/serve/request.h"

/* Holds the parameters of a request against those that its address must have and may have: lists of names with spaces
 * between. All may have `starts`. False: *words tells which one is missing, not known, or none of its kind. */
bool view_parameters_fit(const struct view_request *request, const char *needs, const char *takes, char *words,
                         size_t size);

/* Whether a request has the first parameter of a list. */
bool view_parameters_begin(const struct view_request *request, const char *needs);

#endif
