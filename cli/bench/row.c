/* SPDX-License-Identifier: MIT */
#include "bench/row.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

enum kind { NUMBER, TEXT };
enum role { KEY, VALUE };

static const struct {
    const char *name;
    enum kind kind;
    enum role role;
} columns[COLUMNS] = {
#define COLUMN(id, name, kind, role) {name, kind, role},
#include "bench/columns.def"
#undef COLUMN
};

const char *column_name(enum column c)
{
    return columns[c].name;
}

bool column_is_number(enum column c)
{
    return columns[c].kind == NUMBER;
}

void row_set(struct row *r, enum column c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (text != NULL) {
        va_start(args, format);
        vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    for (char *p = text; p != NULL && *p != '\0'; p++)
        if (iscntrl((unsigned char)*p))
            *p = ' ';
    free(r->cells[c]);
    r->cells[c] = text;
    r->lacks_memory = r->lacks_memory || text == NULL;
}

void row_set_number(struct row *r, enum column c, double x)
{
    if (isfinite(x))
        row_set(r, c, "%.10g", x);
}

void row_set_count(struct row *r, enum column c, uint64_t n)
{
    row_set(r, c, "%" PRIu64, n);
}

const char *row_get(const struct row *r, enum column c)
{
    return r->cells[c] != NULL ? r->cells[c] : "";
}

double row_number(const struct row *r, enum column c)
{
    const char *text = row_get(r, c);
    char *end;
    const double x = strtod(text, &end);

    return end != text && *end == '\0' ? x : NAN;
}

bool row_is_complete(const struct row *r)
{
    return strcmp(row_get(r, COL_OUTCOME), OUTCOME_COMPLETE) == 0;
}

void row_copy_measures(struct row *to, const struct row *from)
{
    for (int c = 0; c < COLUMNS; c++)
        if (columns[c].role == VALUE && from->cells[c] != NULL)
            row_set(to, (enum column)c, "%s", from->cells[c]);
    to->lacks_memory = to->lacks_memory || from->lacks_memory;
}

int row_compare_keys(const struct row *a, const struct row *b)
{
    for (int c = COLUMNS; c-- > 0;) {
        if (columns[c].role != KEY)
            continue;
        const int order =
            strcmp(row_get(a, (enum column)c), row_get(b, (enum column)c));
        if (order != 0)
            return order;
    }
    return 0;
}

void row_fini(struct row *r)
{
    for (int c = 0; c < COLUMNS; c++)
        free(r->cells[c]);
    *r = (struct row){.lacks_memory = false};
}

/* ---- writing ---- */

void row_put_titles(FILE *to)
{
    for (int c = 0; c < COLUMNS; c++)
        fprintf(to, "%s%s", c > 0 ? "," : "", columns[c].name);
    putc('\n', to);
}

static void put_csv_cell(FILE *to, const char *text)
{
    if (strpbrk(text, ",\"") == NULL) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

void row_put_csv(FILE *to, const struct row *r)
{
    for (int c = 0; c < COLUMNS; c++) {
        if (c > 0)
            putc(',', to);
        put_csv_cell(to, row_get(r, (enum column)c));
    }
    putc('\n', to);
}

void row_put_json(FILE *to, const struct row *r)
{
    struct json j;

    json_init(&j, to);
    json_open_object(&j, NULL);
    for (int c = 0; c < COLUMNS; c++) {
        const char *text = row_get(r, (enum column)c);
        if (text[0] == '\0')
            json_null(&j, columns[c].name);
        else if (columns[c].kind == NUMBER)
            json_literal(&j, columns[c].name, text);
        else
            json_string(&j, columns[c].name, text);
    }
    json_close_object(&j);
    json_end(&j);
}
