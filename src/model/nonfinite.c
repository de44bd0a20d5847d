/* nonfinite.c: values that are not finite: which variable, and which operation made it so.
 *
 * An integrator sees the unknowns that it integrates. What is only computed from them, y =
 * log(0.5 - x), may leave the finite numbers without any step failing: it is looked at in every
 * row and at the end of every step.
 *
 * The cause is found from the top: of an expression that is not finite go to an operand that is
 * not, where it counts (the branch of an `if` that is taken), until all operands are finite.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>

typedef struct valued {
    model *m;
    ex_id *node;
    double *value;
    size_t count;
} valued;

/* NaN, too, for what has no number: finite as far as the search goes. */
static double value_of(const valued *v, ex_id e)
{
    double number = 0;
    if (ex_is_number(v->m->g, e, &number)) return number;
    for (size_t i = 0; i < v->count; i++)
        if (v->node[i] == e) return v->value[i];
    return 0;
}

/* The operand that makes e what it is; 0: e itself does. */
static ex_id cause_below(const valued *v, ex_id e)
{
    const ex_graph *g = v->m->g;
    const ex_node *n = ex_at(g, e);
    if (n->op == EX_IF) {
        ex_id taken = value_of(v, n->a) != 0 ? n->b : n->c;
        return isfinite(value_of(v, taken)) ? 0 : taken;
    }
    for (size_t k = 0; k < ex_operand_count(g, e); k++)
        if (!isfinite(value_of(v, ex_operand(g, e, k)))) return ex_operand(g, e, k);
    return 0;
}

/* Variables by their names, those that stand for something too. */
static const char *name_of(uint32_t v, void *user)
{
    const model *m = user;
    const char *name = v < m->variables ? m->variable[v].name : NULL;
    return name ? name : "(...)";
}

static void say_operation(valued *v, ex_id e)
{
    model *m = v->m;
    const ex_node *n = ex_at(m->g, e);
    const char *text = ex_print(m->g, e, name_of, m, 80);
    double a = ex_operand_count(m->g, e) > 0 ? value_of(v, ex_operand(m->g, e, 0)) : 0;
    double b = ex_operand_count(m->g, e) > 1 ? value_of(v, ex_operand(m->g, e, 1)) : 0;
    switch (n->op) {
    case EX_LOG:
    case EX_LOG10:
        if (a < 0)
            dae_why(&m->report, "%s: the logarithm of a negative number, %.10g, is not defined",
                    text, a);
        else
            dae_why(&m->report, "%s: the logarithm of zero is not defined", text);
        break;
    case EX_SQRT:
        dae_why(&m->report, "%s: the square root of a negative number, %.10g, is not defined", text,
                a);
        break;
    case EX_ASIN:
    case EX_ACOS:
        dae_why(&m->report, "%s is defined from -1 to 1 only, its argument is %s", text,
                a > 0 ? "greater" : "less");
        break;
    case EX_DIVIDE:
    case EX_DIV:
    case EX_MOD:
    case EX_REM:
        if (b == 0)
            dae_why(&m->report, "%s: division by zero", text);
        else
            dae_why(&m->report, "%s: the quotient of %.10g and %.10g is too large for a number",
                    text, a, b);
        break;
    case EX_POWER:
        dae_why(&m->report, "%s: %.10g to the power of %.10g is %s", text, a, b,
                a == 0                   ? "a division by zero"
                : a < 0 && b != floor(b) ? "not defined"
                                         : "too large for a number");
        break;
    case EX_CALL:
    case EX_RESULT: dae_why(&m->report, "the function in %s gives it", text); break;
    default: dae_why(&m->report, "%s is too large for a number", text);
    }
}

/* Whichever of these nodes have a number. */
static void collect(valued *v, ex_id root)
{
    model *m = v->m;
    ex_walk *w = ex_walk_begin(m->g, &root, 1);
    v->node = dae_arena_take(&m->arena, w->count + 1, sizeof *v->node);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(m->g, w->order[i]);
        if (n->op != EX_NUMBER && n->op != EX_TEXT && n->op != EX_CALL && n->type != EX_STRING)
            v->node[v->count++] = w->order[i];
    }
    ex_walk_end(m->g, w);
}

bool model_say_nonfinite(model *m, ex_id e)
{
    valued v = { .m = m };
    model_unit u = { 0 };
    bool known = false;
    collect(&v, e);
    if (unit_open(m, &u, v.node, v.count) == DAE_OK && unit_run(m, &u) == DAE_OK) {
        v.value = u.out;
        for (ex_id below; (below = cause_below(&v, e)) != 0;) e = below;
        known = ex_operand_count(m->g, e) > 0;
        if (known) say_operation(&v, e);
    }
    unit_close(m, &u);
    return known;
}

/* ---------------------------------------------------------------- computed variables ---- */

/* Only what the model itself declares as a number: in what was made for it infinities may come and
 * go, as those of derivatives that nothing uses. */
static bool is_declared(const model *m, uint32_t slot)
{
    uint32_t v = slot ? slot_variable(slot) : 0;
    return slot == slot_of(v, 0) && v < m->flat_variables && !m->flat->variable[v].hidden &&
           m->flat->variable[v].type <= EX_INTEGER && m->variable[v].kind == UNKNOWN;
}

/* An Integer may be the unknown of an equation (2*i = 6) and be solved for: it is whole up to rounding. */
static bool is_whole(double value)
{
    return fabs(value - round(value)) <= 1e-12 * fmax(1, fabs(value));
}

/* A number, and of an Integer one that is whole and exact. */
bool model_is_number(const model *m, uint32_t variable, double value)
{
    return isfinite(value) && (m->variable[variable].type != EX_INTEGER ||
                               (fabs(value) <= (double)EX_LARGEST_INTEGER && is_whole(value)));
}

const char *model_fault_of(double value)
{
    return isnan(value)      ? "not a number"
           : isinf(value)    ? "infinite"
           : is_whole(value) ? "too large for an Integer"
                             : "an Integer that is not whole";
}

static bool is_number(const model *m, uint32_t slot, double value)
{
    return slot == 0 || model_is_number(m, slot_variable(slot), value);
}

bool model_is_finite(const model *m)
{
    const model_problem *p = &m->p;
    for (size_t k = 0; k < p->values_count; k++)
        if (!is_number(m, p->value_slot[k], p->values.out[k]) && is_declared(m, p->value_slot[k]))
            return false;
    return true;
}

static dae_status tell(model *m, uint32_t slot, const model_equation *e, ex_id value)
{
    char equation[160], where[LOCATED];
    double is = m->value[slot];
    dae_fail(&m->report, DAE_E_NONFINITE, "'%s' becomes %s", model_slot_name(m, slot),
             model_fault_of(is));
    if (e) {
        model_equation_name(m, e, equation, sizeof equation);
        model_locate(m, e->place, where, sizeof where);
        dae_at(&m->report, "t = %.10g, equation %s%s", m->value[0], equation, where);
    } else {
        dae_at(&m->report, "t = %.10g", m->value[0]);
    }
    if (isfinite(is) && is_whole(is))
        dae_why(&m->report, "it is %.17g, the largest is %lld", is, EX_LARGEST_INTEGER);
    else if (isfinite(is))
        dae_why(&m->report, "it is %.17g", is);
    else if (value)
        model_say_nonfinite(m, value);
    dae_hint(&m->report, isfinite(is) ? "declare it as Real, or round down with integer(...)"
                                      : "stop before, or say in the model what holds there: "
                                        "if ... then ... else ..., max(...)");
    return DAE_E_NONFINITE;
}

dae_status model_tell_nonfinite(model *m)
{
    const model_problem *p = &m->p;
    for (size_t k = 0; k < p->values_count; k++) {
        uint32_t slot = p->value_slot[k];
        if (is_number(m, slot, p->values.out[k]) || !is_declared(m, slot)) continue;
        for (size_t i = 0; i < m->run.steps; i++) {
            const model_step *s = &m->run.step[i];
            for (uint32_t j = 0; j < s->assigned; j++)
                if (s->assigned_slot[j] == slot)
                    return tell(m, slot, &m->run.list->item[s->assigned_equation[j]],
                                s->assigned_value[j]);
        }
        return tell(m, slot, NULL, 0);
    }
    return DAE_OK;
}
