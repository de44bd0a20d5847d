/* find.c: a method by its name. */
#include "tableau/build.h"
#include "tableau/quad.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char SHIFTED[] = "shifted-lobatto-";

/* "3": digits only, no leading zero, at most two; -1 otherwise. */
static int read_count(const char *text)
{
    int value = 0;
    if (text[0] < '1' || text[0] > '9') return -1;
    for (int k = 0; text[k]; k++) {
        if (text[k] < '0' || text[k] > '9' || k > 1) return -1;
        value = 10 * value + (text[k] - '0');
    }
    return value;
}

/* "0.5", "1": a plain decimal with at most 12 digits; -1 otherwise. */
static dae_quad read_decimal(const char *text)
{
    dae_quad value = 0, unit = 1;
    int digits = 0, after = 0;
    for (; *text; text++) {
        if (*text == '.' && !after) {
            after = 1;
        } else if (*text >= '0' && *text <= '9' && digits < 12) {
            value = 10 * value + (*text - '0');
            unit *= after ? 10 : 1;
            digits++;
        } else {
            return -1;
        }
    }
    return digits > 0 ? value / unit : -1;
}

static int find_family(const char *name, dae_tableau *out)
{
    for (const dae_family *f = dae_families; f->name; f++) {
        size_t length = strlen(f->name);
        if (strncmp(name, f->name, length) != 0) continue;
        int s = read_count(name + length);
        if (s < f->least || s > DAE_FAMILY_MOST_STAGES) return 0;
        out->title = f->title;
        out->source = f->source;
        f->make(s, out);
        return 1;
    }
    if (strncmp(name, SHIFTED, sizeof SHIFTED - 1) == 0)
        return dae_shifted_lobatto(read_decimal(name + sizeof SHIFTED - 1), out);
    return 0;
}

static int find_entry(const char *name, dae_tableau *out)
{
    for (int k = 0; dae_entry_lists[k]; k++)
        for (const dae_entry *e = dae_entry_lists[k]; e->name; e++)
            if (strcmp(name, e->name) == 0) return dae_entry_make(e, out);
    return 0;
}

static int find_block(const char *name, dae_tableau *out)
{
    for (const dae_block *k = dae_blocks; k->name; k++)
        if (strcmp(name, k->name) == 0) {
            k->make(k->order, out);
            return 1;
        }
    return 0;
}

int dae_tableau_find(const char *name, dae_tableau *out)
{
    if (strlen(name) >= sizeof out->name) return 0;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", name);
    return find_entry(name, out) || find_block(name, out) || find_family(name, out);
}

int dae_tableau_kind_of(const char *name)
{
    for (int k = 0; dae_entry_lists[k]; k++)
        for (const dae_entry *e = dae_entry_lists[k]; e->name; e++)
            if (strcmp(name, e->name) == 0) return (int)e->kind;
    for (const dae_block *k = dae_blocks; k->name; k++)
        if (strcmp(name, k->name) == 0) return DAE_TABLEAU_FULL;
    for (const dae_family *f = dae_families; f->name; f++) {
        size_t length = strlen(f->name);
        int s = strncmp(name, f->name, length) ? -1 : read_count(name + length);
        if (s >= f->least && s <= DAE_FAMILY_MOST_STAGES) return DAE_TABLEAU_FULL;
    }
    if (strncmp(name, SHIFTED, sizeof SHIFTED - 1)) return -1;
    dae_quad rho = read_decimal(name + sizeof SHIFTED - 1);
    return rho >= (dae_quad)1 / 1000 && rho <= 1 ? (int)DAE_TABLEAU_FULL : -1;
}

const char *dae_tableau_name(int i)
{
    for (int k = 0; dae_entry_lists[k]; k++)
        for (const dae_entry *e = dae_entry_lists[k]; e->name; e++)
            if (i-- == 0) return e->name;
    for (const dae_block *k = dae_blocks; k->name; k++)
        if (i-- == 0) return k->name;
    for (const dae_family *f = dae_families; f->name; f++)
        if (i-- == 0) return f->typical;
    return i == 0 ? "shifted-lobatto-0.5" : NULL;
}

const char *dae_tableau_family(int i, int *least, int *most)
{
    for (const dae_family *f = dae_families; f->name; f++) {
        if (i-- != 0) continue;
        *least = f->least;
        *most = DAE_FAMILY_MOST_STAGES;
        return f->shown;
    }
    return NULL;
}
