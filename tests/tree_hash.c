/* tree_hash.c: a walk over everything in a tree, each value stirred into one number. It knows
 * nothing of text.c, so that a text that means something else is found. */
#include "tree_hash.h"

#include <string.h>

typedef struct walk {
    uint64_t h;
} walk;

static void stir(walk *w, uint64_t value)
{
    w->h = (w->h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    w->h ^= w->h >> 29;
}

static void text(walk *w, const char *s)
{
    stir(w, s ? strlen(s) + 1 : 0);
    for (; s && *s; s++) stir(w, (unsigned char)*s);
}

/* ---------------------------------------------------------------- expressions ----------- */

static void expression(walk *w, const mo_ast *e);

static void expressions(walk *w, mo_ast *const *item, int count)
{
    stir(w, (uint64_t)count);
    for (int i = 0; i < count; i++) expression(w, item[i]);
}

static void reference(walk *w, const mo_reference *r)
{
    stir(w, r ? 1 : 0);
    if (!r) return;
    stir(w, r->global);
    stir(w, (uint64_t)r->parts);
    for (int i = 0; i < r->parts; i++) {
        text(w, r->part[i].name);
        expressions(w, r->part[i].subscript, r->part[i].subscripts);
    }
}

static void iterators(walk *w, const mo_iterator *it, int count)
{
    stir(w, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        text(w, it[i].name);
        expression(w, it[i].range);
    }
}

static void call(walk *w, const mo_ast *e)
{
    if (e->kind != MO_A_ARRAY) reference(w, e->call.reference);
    for (int i = 0; e->call.label && i < e->count; i++) text(w, e->call.label[i]);
    iterators(w, e->call.iterator, e->call.iterators);
}

static void expression(walk *w, const mo_ast *e)
{
    uint64_t bits;
    stir(w, e ? (uint64_t)e->kind + 1 : 0);
    if (!e) return;
    switch (e->kind) {
    case MO_A_REAL:
        memcpy(&bits, &e->number, sizeof bits);
        stir(w, bits);
        break;
    case MO_A_INTEGER:
    case MO_A_BOOLEAN: stir(w, (uint64_t)e->integer); break;
    case MO_A_STRING:
    case MO_A_FIELD: text(w, e->text); break;
    case MO_A_REFERENCE:
    case MO_A_CALL:
    case MO_A_PARTIAL:
    case MO_A_ARRAY: call(w, e); break;
    case MO_A_SUM:
    case MO_A_PRODUCT:
        for (int i = 0; i < e->count; i++) stir(w, e->op[i]);
        break;
    case MO_A_POWER:
    case MO_A_RELATION: stir(w, e->op[0]); break;
    default: break;
    }
    expressions(w, e->item, e->count);
}

/* ---------------------------------------------------------------- classes --------------- */

static void class_(walk *w, const mo_class *k);
static void clause(walk *w, const mo_clause *k);
static void element(walk *w, const mo_element *e);

static void modifier(walk *w, const mo_modifier *m)
{
    stir(w, m ? 1 : 0);
    if (!m) return;
    reference(w, m->name);
    stir(w, (uint64_t)m->each | (uint64_t)m->final << 1 | (uint64_t)m->broken << 2 |
                (uint64_t)m->deselects << 3 | (uint64_t)m->listed << 4);
    expression(w, m->value);
    if (m->connection) clause(w, m->connection);
    if (m->element) element(w, m->element);
    text(w, m->comment);
    stir(w, (uint64_t)m->items);
    for (int i = 0; i < m->items; i++) modifier(w, m->item[i]);
}

static void element(walk *w, const mo_element *e)
{
    stir(w, (uint64_t)e->kind);
    stir(w, (uint64_t)e->is_protected | (uint64_t)e->redeclare << 1 | (uint64_t)e->final << 2 |
                (uint64_t)e->inner << 3 | (uint64_t)e->outer << 4 | (uint64_t)e->replaceable << 5 |
                (uint64_t)e->flow << 6 | (uint64_t)e->stream << 7 | (uint64_t)e->input << 8 |
                (uint64_t)e->output << 9 | (uint64_t)e->import_all << 10 |
                (uint64_t)e->variability << 11);
    reference(w, e->constraint);
    modifier(w, e->constraint_modifier);
    text(w, e->comment);
    modifier(w, e->annotation);
    if (e->nested) class_(w, e->nested);
    reference(w, e->type);
    expressions(w, e->type_dimension, e->type_dimensions);
    text(w, e->name);
    expressions(w, e->dimension, e->dimensions);
    modifier(w, e->modifier);
    expression(w, e->condition);
    reference(w, e->import);
    for (int i = 0; i < e->import_names; i++) text(w, e->import_name[i]);
}

static void clauses(walk *w, mo_clause *const *list, int count)
{
    stir(w, (uint64_t)count);
    for (int i = 0; i < count; i++) clause(w, list[i]);
}

static void clause(walk *w, const mo_clause *k)
{
    stir(w, (uint64_t)k->kind);
    expression(w, k->left);
    expression(w, k->right);
    stir(w, (uint64_t)k->branches);
    for (int i = 0; i < k->branches; i++) {
        expression(w, k->branch[i].condition);
        clauses(w, k->branch[i].clause, k->branch[i].clauses);
    }
    iterators(w, k->iterator, k->iterators);
    text(w, k->comment);
    modifier(w, k->annotation);
}

static void external(walk *w, const mo_external *x)
{
    text(w, x->language);
    expression(w, x->result);
    text(w, x->function);
    expressions(w, x->argument, x->arguments);
    modifier(w, x->annotation);
}

static void short_class(walk *w, const mo_class *k)
{
    stir(w, (uint64_t)k->is_short | (uint64_t)k->is_enumeration << 1 |
                (uint64_t)k->enumeration_open << 2 | (uint64_t)k->is_derivative << 3 |
                (uint64_t)k->extends_itself << 4 | (uint64_t)k->alias_input << 5 |
                (uint64_t)k->alias_output << 6 | (uint64_t)k->alias_flow << 7 |
                (uint64_t)k->alias_stream << 8 | (uint64_t)k->alias_variability << 9);
    reference(w, k->alias);
    expressions(w, k->alias_dimension, k->alias_dimensions);
    modifier(w, k->alias_modifier);
    for (int i = 0; i < k->literals; i++) {
        text(w, k->literal[i]);
        text(w, k->literal_comment[i]);
        modifier(w, k->literal_annotation[i]);
    }
    for (int i = 0; i < k->derivatives; i++) text(w, k->derivative[i]);
}

static void class_(walk *w, const mo_class *k)
{
    stir(w, (uint64_t)k->kind);
    text(w, k->name);
    stir(w, (uint64_t)k->encapsulated | (uint64_t)k->partial << 1 | (uint64_t)k->pure << 2 |
                (uint64_t)k->impure << 3);
    text(w, k->comment);
    stir(w, (uint64_t)k->elements);
    for (int i = 0; i < k->elements; i++) element(w, k->element[i]);
    stir(w, (uint64_t)k->sections);
    for (int i = 0; i < k->sections; i++) {
        stir(w, (uint64_t)k->section[i].algorithm | (uint64_t)k->section[i].initial << 1);
        clauses(w, k->section[i].clause, k->section[i].clauses);
    }
    if (k->external) external(w, k->external);
    modifier(w, k->annotation);
    short_class(w, k);
}

uint64_t hash_of_file(const mo_file *f)
{
    walk w = { 1 };
    stir(&w, f->has_within);
    reference(&w, f->within);
    stir(&w, (uint64_t)f->classes);
    for (int i = 0; i < f->classes; i++) {
        stir(&w, f->class_final[i]);
        class_(&w, f->class_[i]);
    }
    return w.h;
}

uint64_t hash_of_expression(const mo_ast *e)
{
    walk w = { 1 };
    expression(&w, e);
    return w.h;
}
