/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

G_DEFINE_QUARK(tiercel-error-quark, tiercel_error)
