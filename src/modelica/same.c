/* same.c: are two pieces of text the same?
 *
 * Equations of a base class that are written the same in another base class, or in the class
 * itself, count once (section 7.1 of the language): a class may be inherited by two ways.
 * Equations that only mean the same count twice. Beside it: the names that an expression speaks of.
 */
#include "modelica/instance.h"

#include <string.h>

static bool same_list(mo_ast *const *a, mo_ast *const *b, int count)
{
    for (int i = 0; i < count; i++)
        if (!mo_same_ast(a[i], b[i])) return false;
    return true;
}

static bool same_reference(const mo_reference *a, const mo_reference *b)
{
    if (!a || !b) return a == b;
    if (a->parts != b->parts || a->global != b->global) return false;
    for (int i = 0; i < a->parts; i++) {
        const mo_part *p = &a->part[i], *q = &b->part[i];
        if (p->name != q->name || p->subscripts != q->subscripts ||
            !same_list(p->subscript, q->subscript, p->subscripts))
            return false;
    }
    return true;
}

static bool same_iterators(const mo_iterator *a, const mo_iterator *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].name != b[i].name || !mo_same_ast(a[i].range, b[i].range)) return false;
    return true;
}

static bool same_call(const mo_ast *a, const mo_ast *b)
{
    if (a->call.iterators != b->call.iterators ||
        !same_reference(a->call.reference, b->call.reference) ||
        !same_iterators(a->call.iterator, b->call.iterator, a->call.iterators))
        return false;
    for (int i = 0; i < a->count; i++)
        if ((a->call.label ? a->call.label[i] : NULL) != (b->call.label ? b->call.label[i] : NULL))
            return false;
    return true;
}

bool mo_same_ast(const mo_ast *a, const mo_ast *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->count != b->count) return false;
    bool same = true;
    switch (a->kind) {
    case MO_A_REAL: same = a->number == b->number; break;
    case MO_A_INTEGER:
    case MO_A_BOOLEAN: same = a->integer == b->integer; break;
    case MO_A_STRING:
    case MO_A_FIELD: same = strcmp(a->text, b->text) == 0; break;
    case MO_A_REFERENCE:
    case MO_A_CALL:
    case MO_A_PARTIAL:
    case MO_A_ARRAY: same = same_call(a, b); break;
    case MO_A_SUM:
    case MO_A_PRODUCT: same = memcmp(a->op, b->op, (size_t)a->count) == 0; break;
    case MO_A_POWER:
    case MO_A_RELATION: same = a->op[0] == b->op[0]; break;
    default: break;
    }
    return same && same_list(a->item, b->item, a->count);
}

bool mo_same_clause(const mo_clause *a, const mo_clause *b)
{
    if (a == b) return true;
    if (a->kind != b->kind || a->branches != b->branches || a->iterators != b->iterators ||
        !mo_same_ast(a->left, b->left) || !mo_same_ast(a->right, b->right) ||
        !same_iterators(a->iterator, b->iterator, a->iterators))
        return false;
    for (int i = 0; i < a->branches; i++) {
        const mo_branch *p = &a->branch[i], *q = &b->branch[i];
        if (p->clauses != q->clauses || !mo_same_ast(p->condition, q->condition)) return false;
        for (int k = 0; k < p->clauses; k++)
            if (!mo_same_clause(p->clause[k], q->clause[k])) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ names ------------ */

static void names_in_reference(const mo_reference *r, void (*visit)(const char *name, void *user),
                               void *user)
{
    visit(r->part[0].name, user);
    for (int i = 0; i < r->parts; i++)
        for (int k = 0; k < r->part[i].subscripts; k++)
            mo_names_in(r->part[i].subscript[k], visit, user);
}

void mo_names_in(const mo_ast *a, void (*visit)(const char *name, void *user), void *user)
{
    if (!a) return;
    bool call = a->kind == MO_A_CALL || a->kind == MO_A_PARTIAL;
    if ((call || a->kind == MO_A_REFERENCE) && a->call.reference)
        names_in_reference(a->call.reference, visit, user);
    if (call || a->kind == MO_A_ARRAY)
        for (int i = 0; i < a->call.iterators; i++)
            mo_names_in(a->call.iterator[i].range, visit, user);
    for (int i = 0; i < a->count; i++) mo_names_in(a->item[i], visit, user);
}
