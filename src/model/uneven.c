/* uneven.c: what stands out among the elements of an array where an equation is missing, or one is
 * too many.
 *
 * Equations need not be written for a variable: y[i] + 0.1*y[i + 1] = x[i]. But those of one loop
 * look alike: each begins with another element of its array, and each element but a few at the ends
 * occurs in as many equations as the others. Elements for which that does not hold are named; those
 * at the ends only where they explain the whole difference: in y[i]^3 + y[i + 1] = 0 for 1:n-1 no
 * equation begins with y[n], and one is missing. An array is all variables whose names differ in
 * the last subscript only. All in linear time.
 */
#include "model/suspect.h"

#include "expression/walk.h"

#include <stdio.h>
#include <string.h>

enum { LEADING = 3, OCCURRING = 8, ARRAYS = 2, SMALLEST = 10, DEPTH = 40 };

typedef struct family {
    uint32_t like;              /* a variable of it */
    uint32_t usual, votes;      /* the count that most have */
    uint32_t count, odd, wrong; /* variables; with another count; ... on the side that is asked */
    uint32_t least, most;       /* the counts of these */
    uint32_t head, tail;        /* how many in a row have another count at the beginning, the end */
} family;

typedef struct grouping {
    model *m;
    family *item;
    size_t count;
    uint32_t *of; /* of a variable: 1 + its array; 0: none */
} grouping;

/* ---------------------------------------------------------------- arrays ---------------- */

/* The last subscript of a name: where it begins and ends; false: there is none. */
static bool subscript(const char *name, size_t *from, size_t *to)
{
    const char *open = strrchr(name, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close) return false;
    *from = (size_t)(open - name);
    *to = (size_t)(close - name);
    return true;
}

static uint32_t hash_but(const char *name, size_t from, size_t to)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; name[i]; i++)
        if (i < from || i > to) h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h;
}

static bool alike(const char *a, size_t from, size_t to, const char *b)
{
    size_t f, t;
    return subscript(b, &f, &t) && f == from && !memcmp(a, b, from) && !strcmp(a + to, b + t);
}

static void group(grouping *g, model *m)
{
    const flat_model *f = m->flat;
    size_t size = 64, from, to;
    *g = (grouping){ .m = m };
    while (size < 2 * f->variables + 2) size *= 2;
    uint32_t *table = dae_arena_take(&m->arena, size, sizeof *table);
    g->item = dae_arena_take(&m->arena, f->variables + 1, sizeof *g->item);
    g->of = dae_arena_take(&m->arena, f->variables + 1, sizeof *g->of);
    for (uint32_t v = 0; v < f->variables; v++) {
        const char *name = f->variable[v].name;
        if (m->variable[v].kind != UNKNOWN || !subscript(name, &from, &to)) continue;
        size_t at = hash_but(name, from, to) & (size - 1);
        while (table[at] && !alike(name, from, to, f->variable[g->item[table[at] - 1].like].name))
            at = (at + 1) & (size - 1);
        if (!table[at]) {
            g->item[g->count] = (family){ .like = v };
            table[at] = (uint32_t)++g->count;
        }
        g->of[v] = table[at];
    }
}

/* What most have in common, and how many have not: fewer, or more. */
static void judge(grouping *g, const uint32_t *tally, bool fewer)
{
    size_t n = g->m->flat->variables;
    for (size_t k = 0; k < g->count; k++) g->item[k] = (family){ .like = g->item[k].like };
    for (size_t v = 0; v < n; v++) {
        if (!g->of[v]) continue;
        family *k = &g->item[g->of[v] - 1];
        if (k->votes == 0) k->usual = tally[v];
        if (tally[v] == k->usual)
            k->votes++;
        else
            k->votes--;
    }
    for (size_t v = 0; v < n; v++) {
        if (!g->of[v]) continue;
        family *k = &g->item[g->of[v] - 1];
        bool odd = tally[v] != k->usual;
        if (odd && k->head == k->count) k->head++;
        k->tail = odd ? k->tail + 1 : 0;
        k->count++;
        k->odd += odd;
        if (!odd || (tally[v] < k->usual) != fewer) continue;
        if (k->wrong == 0 || tally[v] < k->least) k->least = tally[v];
        if (k->wrong == 0 || tally[v] > k->most) k->most = tally[v];
        k->wrong++;
    }
}

/* Do nearly all elements have the usual count, and some not at the ends another one? */
static bool stands_out(const family *k, uint32_t most)
{
    return k->count >= SMALLEST && k->wrong > 0 && k->odd <= most && 4 * k->odd <= k->count &&
           k->odd > k->head + k->tail;
}

/* The elements of an array that have too few, or too many; those at its ends come last. */
static void list_wrong(const grouping *g, size_t which, const uint32_t *tally, bool fewer,
                       char *out, size_t size)
{
    const family *k = &g->item[which];
    size_t length = 0;
    for (int ends = 0; ends < 2; ends++) {
        uint32_t at = 0;
        for (size_t v = k->like; v < g->m->flat->variables && at < k->count; v++) {
            if (g->of[v] != which + 1) continue;
            bool end = at < k->head || at >= k->count - k->tail;
            at++;
            if (tally[v] == k->usual || (tally[v] < k->usual) != fewer || end != (ends == 1))
                continue;
            if (length + 120 < size)
                length += (size_t)snprintf(out + length, size - length, "%s'%.100s'",
                                           length ? ", " : "", g->m->flat->variable[v].name);
        }
    }
}

/* ---------------------------------------------------------------- how they begin -------- */

/* The first unknown in the text of an expression; NOWHERE: none is near. */
static uint32_t first_in(const model *m, ex_id e, int *left)
{
    const ex_node *n = ex_at(m->g, e);
    if (--*left < 0) return NOWHERE;
    if (n->op == EX_VARIABLE) return m->variable[n->a].kind == UNKNOWN ? n->a : NOWHERE;
    for (size_t k = 0; k < ex_operand_count(m->g, e) && *left > 0; k++) {
        uint32_t v = first_in(m, ex_operand(m->g, e, k), left);
        if (v != NOWHERE) return v;
    }
    return NOWHERE;
}

/* With how many equations each variable begins. */
static uint32_t *count_leading(model *m)
{
    const flat_model *f = m->flat;
    uint32_t *tally = dae_arena_take(&m->arena, f->variables + 1, sizeof *tally);
    for (size_t i = 0; i < f->equations; i++) {
        int left = DEPTH;
        uint32_t v = first_in(m, f->equation[i].left, &left);
        if (v == NOWHERE) v = first_in(m, f->equation[i].right, &left);
        if (v != NOWHERE) tally[v]++;
    }
    return tally;
}

static void tell_leading(grouping *g, size_t which, const uint32_t *tally, bool fewer)
{
    char list[400] = "";
    list_wrong(g, which, tally, fewer, list, sizeof list);
    if (fewer)
        dae_why(&g->m->report,
                "no equation begins with %s, one does with each of the others of "
                "the array: it may be missing",
                list);
    else
        dae_why(&g->m->report,
                "more than one equation begins with %s, one does with each of the "
                "others of the array: one may be too many",
                list);
}

static bool say_leading(grouping *g, const uint32_t *tally, bool fewer)
{
    size_t told = 0;
    judge(g, tally, fewer);
    for (size_t k = 0; k < g->count && told < ARRAYS; k++) {
        if (g->item[k].usual != 1 || !stands_out(&g->item[k], LEADING)) continue;
        tell_leading(g, k, tally, fewer);
        told++;
    }
    return told > 0;
}

/* The same of elements at the ends, where these are all there is and as many as equations are
 * missing, or too many. */
static bool say_ends(grouping *g, const uint32_t *tally, long missing)
{
    uint32_t wrong = 0, odd = 0;
    judge(g, tally, missing > 0);
    for (size_t k = 0; k < g->count; k++) {
        const family *a = &g->item[k];
        if (a->count < SMALLEST || a->usual != 1) continue;
        wrong += a->wrong;
        odd += a->odd;
    }
    if (odd != wrong || wrong > LEADING || (long)wrong != (missing > 0 ? missing : -missing))
        return false;
    for (size_t k = 0; k < g->count; k++)
        if (g->item[k].count >= SMALLEST && g->item[k].usual == 1 && g->item[k].wrong)
            tell_leading(g, k, tally, missing > 0);
    return true;
}

/* ---------------------------------------------------------------- how often they occur -- */

/* "2", or "2 to 3" */
static const char *how_many(const family *k, char *out, size_t size)
{
    if (k->least == k->most)
        snprintf(out, size, "%u", k->least);
    else
        snprintf(out, size, "%u to %u", k->least, k->most);
    return out;
}

/* In how many equations each variable occurs, as itself or as a derivative. */
static uint32_t *count_occurrences(model *m)
{
    const flat_model *f = m->flat;
    uint32_t *tally = dae_arena_take(&m->arena, m->variables + 1, sizeof *tally);
    size_t *last = dae_arena_take(&m->arena, m->variables + 1, sizeof *last);
    for (size_t i = 0; i < f->equations; i++) {
        const ex_id side[] = { f->equation[i].left, f->equation[i].right };
        ex_walk *w = ex_walk_begin(m->g, side, 2);
        for (size_t k = 0; k < w->count; k++) {
            const ex_node *n = ex_at(m->g, w->order[k]);
            if (n->op != EX_VARIABLE || last[n->a] == i + 1) continue;
            last[n->a] = i + 1;
            tally[n->a]++;
        }
        ex_walk_end(m->g, w);
    }
    return tally;
}

static bool say_occurring(grouping *g, bool fewer)
{
    model *m = g->m;
    uint32_t *tally = count_occurrences(m);
    size_t told = 0;
    judge(g, tally, fewer);
    for (size_t k = 0; k < g->count && told < ARRAYS; k++) {
        const family *a = &g->item[k];
        char list[900] = "", number[40];
        if (!stands_out(a, OCCURRING)) continue;
        list_wrong(g, k, tally, fewer, list, sizeof list);
        dae_why(&m->report,
                "%s occur%s in %s equation%s, the others of the array in %u: an "
                "equation %s",
                list, a->wrong == 1 ? "s" : "", how_many(a, number, sizeof number),
                a->least == 1 && a->most == 1 ? "" : "s", a->usual,
                fewer ? "there may be missing" : "there may be too many");
        told++;
    }
    return told > 0;
}

bool model_say_uneven(model *m, long missing)
{
    grouping g;
    group(&g, m);
    const uint32_t *tally = count_leading(m);
    bool told = say_leading(&g, tally, missing > 0);
    told |= say_occurring(&g, missing > 0);
    return told || say_ends(&g, tally, missing);
}
