/* SPDX-License-Identifier: MIT */
#include "bench/row.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_reader.h"

/* Returns whether the cell of a numeric column is empty, or is a number for
 * both strtod() and JSON. */
static bool fits(const struct row *r, enum column c)
{
    const char *text = row_get(r, c);
    char *end;

    if (text[0] == '\0' || !column_is_number(c))
        return true;
    if (strspn(text, "0123456789.e+-") != strlen(text))
        return false;
    (void)strtod(text, &end);
    return *end == '\0';
}

/* Checks the format, and that the last column has an outcome.  If the line was
 * cut off, it has none. */
static bool is_whole(const struct row *r)
{
    const char *outcome = row_get(r, COL_OUTCOME);

    for (int c = 0; c < COLUMNS; c++)
        if (!fits(r, (enum column)c))
            return false;
    return strcmp(row_get(r, COL_FORMAT), ROW_FORMAT) == 0 &&
           (strcmp(outcome, OUTCOME_COMPLETE) == 0 ||
            strcmp(outcome, OUTCOME_FAILED) == 0);
}

static bool keep(struct row *r, bool is_read)
{
    if (is_read && !r->lacks_memory && is_whole(r))
        return true;
    row_fini(r);
    return false;
}

/* ---- CSV ---- */

/* Copies the first cell of the line.  Returns the rest of the line, or NULL if
 * the quotes are wrong. */
static const char *read_csv_cell(const char *line, char *cell)
{
    if (*line != '"') {
        const size_t len = strcspn(line, ",");
        memcpy(cell, line, len);
        cell[len] = '\0';
        return memchr(cell, '"', len) == NULL ? line + len : NULL;
    }
    for (line++; *line != '\0'; line++) {
        if (*line == '"' && *++line != '"') {
            *cell = '\0';
            return *line == ',' || *line == '\0' ? line : NULL;
        }
        *cell++ = *line;
    }
    return NULL;
}

static bool read_csv(struct row *r, const char *line, char *cell)
{
    for (int c = 0; c < COLUMNS; c++) {
        line = read_csv_cell(line, cell);
        if (line == NULL || *line != (c < COLUMNS - 1 ? ',' : '\0'))
            return false;
        if (*cell != '\0')
            row_set(r, (enum column)c, "%s", cell);
        line += *line == ',';
    }
    return true;
}

bool row_read_csv(struct row *r, const char *line)
{
    char *cell = malloc(strlen(line) + 1);

    *r = (struct row){.lacks_memory = false};
    const bool is_read = cell != NULL && read_csv(r, line, cell);
    free(cell);
    return keep(r, is_read);
}

bool row_are_titles(const char *line)
{
    for (int c = 0; c < COLUMNS; c++) {
        const char *name = column_name((enum column)c);
        const size_t len = strlen(name);
        if (strncmp(line, name, len) != 0 ||
            line[len] != (c < COLUMNS - 1 ? ',' : '\0'))
            return false;
        line += len + 1;
    }
    return true;
}

/* ---- JSON: one flat object, as row_put_json() writes it ---- */

static bool read_json_cell(struct row *r, enum column c, struct json_reader *j)
{
    if (json_reader_next(j) != JSON_STRING ||
        strcmp(j->text, column_name(c)) != 0 ||
        json_reader_next(j) != JSON_COLON)
        return false;
    const enum json_token token = json_reader_next(j);
    if (token == JSON_WORD)
        return strcmp(j->text, "null") == 0;
    if (token != JSON_STRING && token != JSON_NUMBER)
        return false;
    row_set(r, c, "%s", j->text);
    return true;
}

static bool read_json(struct row *r, struct json_reader *j)
{
    if (json_reader_next(j) != JSON_OPEN_OBJECT)
        return false;
    for (int c = 0; c < COLUMNS; c++)
        if (!read_json_cell(r, (enum column)c, j) ||
            json_reader_next(j) !=
                (c < COLUMNS - 1 ? JSON_COMMA : JSON_CLOSE_OBJECT))
            return false;
    return json_reader_next(j) == JSON_END;
}

bool row_read_json(struct row *r, const char *line)
{
    struct json_reader *j = malloc(sizeof *j);
    FILE *from = fmemopen((void *)(uintptr_t)line, strlen(line), "r");
    bool is_read = false;

    *r = (struct row){.lacks_memory = false};
    if (j != NULL && from != NULL) {
        json_reader_init(j, from);
        is_read = read_json(r, j);
    }
    if (from != NULL)
        fclose(from);
    free(j);
    return keep(r, is_read);
}
