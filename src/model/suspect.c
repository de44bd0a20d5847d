/* suspect.c: where in the text an equation is probably missing, or one too many.
 *
 * In a network of thousands of components the equations are connected: if one is missing,
 * structure alone says no more than that there is one too few for all of them. But every
 * component brings as many equations as it has unknowns, less what connections supply (each flow
 * variable of a connector one equation, each causal input one): a component for which that does
 * not hold is named. Within it, or in a model without components, it helps that equations are
 * mostly written for a variable, v = ... or der(v) = ...: one that has none, or two, is named, and one
 * that occurs only in an equation written for another. An
 * equation that is there twice is found as such. If none of this helps, elements of arrays are
 * compared with each other (uneven.c). These are guesses about what was meant: the
 * parts that structure proves are told as well (diagnose.c).
 */
#include "model/suspect.h"

#include "expression/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 3 };

typedef struct share {
    const char *name;
    long unknowns, supplied, equations;
} share;

typedef struct census {
    model *m;
    share *item;
    size_t count, size;
    uint32_t *table; /* 1 + item; 0: free */
} census;

static uint32_t hash_text(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static share *share_of(census *c, const char *name)
{
    size_t at = hash_text(name) & (c->size - 1);
    for (; c->table[at]; at = (at + 1) & (c->size - 1)) {
        share *k = &c->item[c->table[at] - 1];
        if (k->name == name || !strcmp(k->name, name)) return k;
    }
    c->item[c->count] = (share){ .name = name };
    c->table[at] = (uint32_t)++c->count;
    return &c->item[c->count - 1];
}

static const char *owner_of(const flat_variable *v)
{
    return v->component ? v->component : "";
}

/* Components with their counts; how many equations are missing in all. */
static long count_all(census *c)
{
    flat_model *f = c->m->flat;
    size_t most = f->variables + f->equations + 1;
    long missing = 0;
    for (c->size = 64; c->size < 2 * most; c->size *= 2) continue;
    c->table = dae_arena_take(&c->m->arena, c->size, sizeof *c->table);
    c->item = dae_arena_take(&c->m->arena, most, sizeof *c->item);
    for (size_t v = 0; v < f->variables; v++) {
        if (c->m->variable[v].kind != UNKNOWN) continue;
        share *k = share_of(c, owner_of(&f->variable[v]));
        k->unknowns++;
        k->supplied += (long)f->variable[v].supplied;
        missing++;
    }
    for (size_t i = 0; i < f->equations; i++) {
        if (ex_at(c->m->g, f->equation[i].left)->type == EX_STRING) continue;
        missing--;
        if (!f->equation[i].connection)
            share_of(c, f->equation[i].component ? f->equation[i].component : "")->equations++;
    }
    return missing;
}

static long balance(const share *k)
{
    return k->unknowns - k->supplied - k->equations;
}

/* ---------------------------------------------------------------- written for ----------- */

/* The variable that an equation is written for: v = ..., der(v) = ..., k*der(v) = ...; NOWHERE. */
static uint32_t written_for(const model *m, ex_id side)
{
    const ex_node *n = ex_at(m->g, side);
    if (n->op == EX_MULTIPLY && ex_at(m->g, n->b)->op == EX_VARIABLE && ex_at(m->g, n->b)->b)
        n = ex_at(m->g, n->b);
    else if (n->op == EX_MULTIPLY && ex_at(m->g, n->a)->op == EX_VARIABLE && ex_at(m->g, n->a)->b)
        n = ex_at(m->g, n->a);
    if (n->op != EX_VARIABLE || m->variable[n->a].kind != UNKNOWN) return NOWHERE;
    return n->a;
}

static bool in(const char *wanted, const char *component)
{
    return !wanted || !strcmp(wanted, component ? component : "");
}

static void equation_text(model *m, const flat_equation *e, char *out, size_t size)
{
    char where[LOCATED];
    const char *left = ex_print(m->g, e->left, flat_name, m->flat, 60);
    const char *right = ex_print(m->g, e->right, flat_name, m->flat, 60);
    model_locate(m, e->place, where, sizeof where);
    snprintf(out, size, "'%s = %s'%s", left, right, where);
}

/* Variables of a component (NULL: of all) that no equation is written for, if they are few. */
static bool say_unwritten(model *m, const char *component)
{
    flat_model *f = m->flat;
    unsigned char *has = dae_arena_take(&m->arena, f->variables + 1, 1);
    size_t without = 0, with = 0, length = 0;
    char list[400] = "";
    for (size_t i = 0; i < f->equations; i++) {
        uint32_t v = written_for(m, f->equation[i].left);
        if (v == NOWHERE) v = written_for(m, f->equation[i].right);
        if (v != NOWHERE) has[v] = 1;
    }
    for (size_t v = 0; v < f->variables; v++) {
        if (m->variable[v].kind != UNKNOWN || !in(component, owner_of(&f->variable[v]))) continue;
        with += has[v];
        if (has[v] || without++ >= LISTED) continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.100s'",
                                   length ? ", " : "", f->variable[v].name);
    }
    if (without == 0 || without > LISTED || with < without) return false;
    dae_why(&m->report, "no equation is written for %s", list);
    return true;
}

/* Variables that occur in one equation only, which is written for another one, if they are few: the
 * end of a line that nobody has closed. */
static bool say_loose(model *m)
{
    flat_model *f = m->flat;
    unsigned char *count = dae_arena_take(&m->arena, f->variables + 1, 1);
    uint32_t *where = dae_arena_take(&m->arena, f->variables + 1, sizeof *where);
    size_t loose = 0, found[LISTED];
    for (uint32_t i = 0; i < f->equations; i++) {
        const ex_id side[] = { f->equation[i].left, f->equation[i].right };
        ex_walk *w = ex_walk_begin(m->g, side, 2);
        for (size_t k = 0; k < w->count; k++) {
            const ex_node *n = ex_at(m->g, w->order[k]);
            if (n->op != EX_VARIABLE || (count[n->a] && where[n->a] == i)) continue;
            count[n->a] = count[n->a] ? 2 : 1;
            where[n->a] = i;
        }
        ex_walk_end(m->g, w);
    }
    for (size_t v = 0; v < f->variables && loose <= LISTED; v++) {
        if (m->variable[v].kind != UNKNOWN || count[v] != 1) continue;
        const flat_equation *e = &f->equation[where[v]];
        uint32_t left = written_for(m, e->left), right = written_for(m, e->right);
        if (left == v || right == v || (left == NOWHERE && right == NOWHERE)) continue;
        if (loose < LISTED) found[loose] = v;
        loose++;
    }
    for (size_t k = 0; k < loose && loose <= LISTED; k++) {
        char text[400];
        equation_text(m, &f->equation[where[found[k]]], text, sizeof text);
        dae_why(&m->report,
                "'%.100s' occurs in one equation only, %s, which is written for another",
                f->variable[found[k]].name, text);
    }
    return loose > 0 && loose <= LISTED;
}

typedef struct pair {
    ex_id left, right;
    uint32_t number;
} pair;

static int by_sides(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->left != y->left) return x->left < y->left ? -1 : 1;
    if (x->right != y->right) return x->right < y->right ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* The same equation twice: exchanged sides count as well. */
static bool say_twice(model *m)
{
    flat_model *f = m->flat;
    pair *p = dae_arena_take(&m->arena, f->equations + 1, sizeof *p);
    for (uint32_t i = 0; i < f->equations; i++) {
        ex_id a = f->equation[i].left, b = f->equation[i].right;
        p[i] = (pair){ a < b ? a : b, a < b ? b : a, i };
    }
    qsort(p, f->equations, sizeof *p, by_sides);
    for (size_t i = 1; i < f->equations; i++) {
        if (p[i].left != p[i - 1].left || p[i].right != p[i - 1].right) continue;
        char text[400], where[LOCATED];
        equation_text(m, &f->equation[p[i - 1].number], text, sizeof text);
        model_locate(m, f->equation[p[i].number].place, where, sizeof where);
        dae_why(&m->report, "the equation %s is there again%s", text, where);
        return true;
    }
    return false;
}

/* Two equations written for one variable. */
static bool say_written_twice(model *m, const char *component)
{
    flat_model *f = m->flat;
    uint32_t *first = dae_arena_take(&m->arena, f->variables + 1, sizeof *first);
    for (uint32_t i = 0; i < f->equations; i++) {
        uint32_t v = f->equation[i].connection ? NOWHERE : written_for(m, f->equation[i].left);
        if (v == NOWHERE) continue;
        if (first[v] && (in(component, f->equation[i].component) ||
                         in(component, f->equation[first[v] - 1].component))) {
            char a[400], b[400];
            equation_text(m, &f->equation[first[v] - 1], a, sizeof a);
            equation_text(m, &f->equation[i], b, sizeof b);
            dae_why(&m->report, "two equations are written for '%.100s': %s and %s",
                    f->variable[v].name, a, b);
            return true;
        }
        if (!first[v]) first[v] = i + 1;
    }
    return false;
}

/* ---------------------------------------------------------------- components ------------ */

/* The only equations of a component that has hardly any: one of them is too many. */
static void list_own(model *m, const share *k, char *out, size_t size)
{
    size_t length = 0;
    out[0] = 0;
    if (k->equations > LISTED) return;
    for (size_t i = 0; i < m->flat->equations; i++) {
        const flat_equation *e = &m->flat->equation[i];
        char text[400];
        if (e->connection || strcmp(e->component ? e->component : "", k->name)) continue;
        equation_text(m, e, text, sizeof text);
        if (length < size) length += (size_t)snprintf(out + length, size - length, ": %s", text);
    }
}

static void say_component(model *m, const share *k)
{
    long missing = balance(k);
    char own[500] = "", name[160] = "the model itself";
    if (*k->name) snprintf(name, sizeof name, "component '%.120s'", k->name);
    if (missing < 0) list_own(m, k, own, sizeof own);
    dae_why(&m->report,
            "%s has %ld equation%s too %s: %ld of its own and %ld by connections for %ld "
            "unknown%s%s",
            name, labs(missing), labs(missing) == 1 ? "" : "s", missing > 0 ? "few" : "many",
            k->equations, k->supplied, k->unknowns, k->unknowns == 1 ? "" : "s", own);
}

bool model_say_suspects(model *m)
{
    census c = { .m = m };
    long missing = count_all(&c), sum = 0;
    const share *found[LISTED + 1];
    size_t count = 0;
    for (size_t i = 0; i < c.count; i++) {
        sum += balance(&c.item[i]);
        if (balance(&c.item[i]) == 0) continue;
        if (count <= LISTED) found[count] = &c.item[i];
        count++;
    }
    bool sure = sum == missing && count > 0 && count <= LISTED, told = sure;
    if (c.count == 1) sure = told = false; /* there is only the model itself */
    for (size_t i = 0; sure && i < count; i++) say_component(m, found[i]);
    const char *one = sure && count == 1 ? found[0]->name : NULL;
    if (missing > 0)
        told |= say_unwritten(m, one) || say_loose(m);
    else
        told |= say_twice(m) || say_written_twice(m, one);
    return told || (missing != 0 && model_say_uneven(m, missing));
}
