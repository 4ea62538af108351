/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings and numbers as JSON has them, for whoever writes it. Local; no errors.
 */
#ifndef TIERCEL_BASE_JSON_TEXT_H
#define TIERCEL_BASE_JSON_TEXT_H

/* In quotes, escaped; bytes that are no UTF-8 are replaced. Free with g_free. */
char *json_text_string(const char *text);

/* The shortest form that reads back as the same number; `missing` where it is not finite. Free with g_free. */
char *json_text_number(double number, const char *missing);

#endif
