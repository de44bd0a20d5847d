/* whole.c: subscripts as plain numbers.
 *
 * In a loop over 100,000 elements x[mod(7919*i, n) + 1] is a different number each time. Evaluated
 * like any expression each number on the way becomes a node of the graph that nobody asks for
 * again; that was a third of the time such a model took to load. So what consists of Integers,
 * iterators, parameters whose values are known already, + - *, mod, min, max, 'end' and
 * if-expressions on relations of these is computed directly. Whatever else there is, or a number
 * that a double does not hold exactly, is left to mo_evaluate, which has the words for errors too.
 */
#include "modelica/instance.h"

#include <math.h>
#include <string.h>

static const double EXACT = 4503599627370496.0; /* 2^52 */

enum { DEEPEST = 50 };

static bool whole(mo_model *m, const mo_scope *s, const mo_ast *a, int depth, double *x);

static bool of_reference(mo_model *m, const mo_scope *s, const mo_reference *r, double *x)
{
    if (r->parts != 1 || r->global || r->part[0].subscripts) return false;
    const mo_value *v = mo_find_name(m, s, r->part[0].name);
    if (!v || v->kind != MO_V_SCALAR || v->type != EX_INTEGER) return false;
    if (ex_is_number(m->graph, v->scalar, x)) return true;
    const ex_node *n = ex_at(m->graph, v->scalar);
    if (n->op != EX_VARIABLE || n->b || n->a >= m->owner_capacity || !m->owner[n->a]) return false;
    *x = m->known[n->a];
    return !isnan(*x);
}

static bool of_terms(mo_model *m, const mo_scope *s, const mo_ast *a, int depth, double *x)
{
    bool sum = a->kind == MO_A_SUM;
    double result = sum ? 0 : 1, term;
    for (int k = 0; k < a->count; k++) {
        int op = a->op[k];
        if (op != MO_TIMES && op != MO_PLUS && op != MO_MINUS) return false;
        if (!whole(m, s, a->item[k], depth, &term)) return false;
        result = !sum ? result * term : op == MO_PLUS ? result + term : result - term;
        if (!(fabs(result) < EXACT)) return false;
    }
    *x = result;
    return true;
}

static bool of_call(mo_model *m, const mo_scope *s, const mo_ast *a, int depth, double *x)
{
    const mo_reference *r = a->call.reference;
    double p, q;
    if (r->parts != 1 || r->global || a->count != 2 || a->call.label || a->call.iterators)
        return false;
    const char *name = r->part[0].name;
    bool mod = !strcmp(name, "mod"), min = !strcmp(name, "min"), max = !strcmp(name, "max");
    if (!(mod || min || max) || mo_find_name(m, s, name)) return false;
    if (!whole(m, s, a->item[0], depth, &p) || !whole(m, s, a->item[1], depth, &q)) return false;
    if (mod && q == 0) return false;
    *x = mod ? p - q * floor(p / q) : min ? fmin(p, q) : fmax(p, q);
    return true;
}

/* false: not known. */
static bool of_relation(mo_model *m, const mo_scope *s, const mo_ast *a, int depth, bool *holds)
{
    double p, q;
    if (a->kind != MO_A_RELATION || !whole(m, s, a->item[0], depth, &p) ||
        !whole(m, s, a->item[1], depth, &q))
        return false;
    switch ((mo_operator)a->op[0]) {
    case MO_LT: *holds = p < q; return true;
    case MO_LE: *holds = p <= q; return true;
    case MO_GT: *holds = p > q; return true;
    case MO_GE: *holds = p >= q; return true;
    case MO_EQ: *holds = p == q; return true;
    case MO_NE: *holds = p != q; return true;
    default: return false;
    }
}

/* All branches must be whole numbers, also those that are not taken: their types have to agree. */
static bool of_branches(mo_model *m, const mo_scope *s, const mo_ast *a, int depth, double *x)
{
    bool taken = false;
    for (int k = 0; k < a->count; k += 2) {
        bool last = k + 1 == a->count, holds = true;
        double value;
        if (!last && !of_relation(m, s, a->item[k], depth, &holds)) return false;
        if (!whole(m, s, a->item[last ? k : k + 1], depth, &value)) return false;
        if (holds && !taken) *x = value;
        taken |= holds;
    }
    return taken;
}

static bool whole(mo_model *m, const mo_scope *s, const mo_ast *a, int depth, double *x)
{
    if (!a || depth >= DEEPEST) return false;
    switch (a->kind) {
    case MO_A_INTEGER: *x = (double)a->integer; return fabs(*x) < EXACT;
    case MO_A_REFERENCE: return of_reference(m, s, a->call.reference, x);
    case MO_A_SUM:
    case MO_A_PRODUCT: return of_terms(m, s, a, depth + 1, x);
    case MO_A_CALL: return of_call(m, s, a, depth + 1, x);
    case MO_A_IF: return of_branches(m, s, a, depth + 1, x);
    case MO_A_END:
        *x = s->end_of ? (double)s->end_of->size[s->end_dimension] : 0;
        return s->end_of != NULL;
    default: return false;
    }
}

bool mo_whole_number(mo_model *m, const mo_scope *s, const mo_ast *a, double *x)
{
    return !s->run && whole(m, s, a, 0, x);
}
