/* consistent.c: what can only be seen when all is flat: constants and parameters whose values
 * vary, or lie outside of their min and max.
 * (Parameters in a circle are found where they are put in order, src/model/parameters.c.)
 *
 * Operands of a node have smaller numbers, so one loop over the graph finds how much each
 * expression varies.
 */
#include "modelica/instance.h"

#include <string.h>

static flat_variability most(flat_variability a, flat_variability b)
{
    return a > b ? a : b;
}

typedef struct survey {
    mo_model *m;
    unsigned char *varies; /* of every node */
} survey;

static flat_variability of_node(const survey *s, ex_id e)
{
    const ex_node *n = ex_at(s->m->graph, e);
    flat_variability v = FLAT_CONSTANT;
    switch (n->op) {
    case EX_TIME: return FLAT_CONTINUOUS;
    case EX_VARIABLE: return s->m->flat->variable[n->a].variability;
    case EX_PRE:
    case EX_INITIAL:
    case EX_TERMINAL:
    case EX_SAMPLE: return FLAT_DISCRETE;
    default: break;
    }
    for (size_t k = 0; k < ex_operand_count(s->m->graph, e); k++)
        v = most(v, (flat_variability)s->varies[ex_operand(s->m->graph, e, k)]);
    return v;
}

/* A variable below e that varies more than `allowed`; NULL: time or an event. */
static const flat_variable *culprit(const survey *s, ex_id e, flat_variability allowed)
{
    for (;;) {
        const ex_node *n = ex_at(s->m->graph, e);
        if (n->op == EX_VARIABLE) return &s->m->flat->variable[n->a];
        ex_id next = 0;
        for (size_t k = 0; k < ex_operand_count(s->m->graph, e) && !next; k++)
            if (s->varies[ex_operand(s->m->graph, e, k)] > (unsigned char)allowed)
                next = ex_operand(s->m->graph, e, k);
        if (!next) return NULL;
        e = next;
    }
}

static const char *const word[] = { [FLAT_CONSTANT] = "a constant",
                                    [FLAT_PARAMETER] = "a parameter",
                                    [FLAT_DISCRETE] = "a discrete variable",
                                    [FLAT_CONTINUOUS] = "a variable" };

static void say_why(const survey *s, ex_id e, flat_variability allowed)
{
    const flat_variable *why = culprit(s, e, allowed);
    if (why)
        mo_why(s->m->context, "it depends on '%s', which is %s", why->name, word[why->variability]);
    else
        mo_why(s->m->context, "it depends on the time or on an event");
}

/* Attributes are known before anything is solved. A guess, a limit that varies is not taken; a value
 * that has to hold would be another one. One message for a declaration. */
static bool attributes(survey *s, flat_variable *v, const flat_variable *said)
{
    const struct {
        const char *name;
        ex_id *value;
    } all[] = {
        { "start", &v->start }, { "min", &v->min }, { "max", &v->max }, { "nominal", &v->nominal }
    };
    bool fine = true;
    for (int k = 0; k < 4; k++) {
        ex_id e = *all[k].value;
        if (!e || s->varies[e] <= FLAT_PARAMETER) continue;
        *all[k].value = 0;
        fine = false;
        if (said && said->place.source == v->place.source && said->place.offset == v->place.offset)
            continue;
        if (k == 0 && v->fixed == 1)
            mo_error(s->m->context, DAE_E_MODEL, v->place, "the fixed start value of '%s' varies",
                     v->name);
        else
            mo_warning(s->m->context, v->place, "'%s' of '%s' varies: it is not taken", all[k].name,
                       v->name);
        say_why(s, e, FLAT_PARAMETER);
        mo_hint(s->m->context, k ? "use constants and parameters only"
                                 : "use constants and parameters, or write an initial equation");
    }
    return fine;
}

static bool binding(survey *s, const flat_variable *v)
{
    if (v->variability > FLAT_PARAMETER || !v->binding ||
        s->varies[v->binding] <= (unsigned char)v->variability)
        return true;
    if (v->type == EX_STRING) {
        mo_error(s->m->context, DAE_E_UNSUPPORTED, v->place, "the String '%s' varies", v->name);
        say_why(s, v->binding, v->variability);
        mo_hint(s->m->context,
                "texts are not computed during a simulation: use an Integer or an enumeration");
        return false;
    }
    mo_error(s->m->context, DAE_E_MODEL, v->place,
             "'%s' is %s, but its value varies more than that", v->name, word[v->variability]);
    say_why(s, v->binding, v->variability);
    mo_hint(s->m->context,
            v->variability == FLAT_CONSTANT
                ? "declare '%s' as a parameter or variable"
                : "remove 'parameter' from '%s', or use parameters only",
            v->name);
    return false;
}

/* ------------------------------------------------------------------ min and max ------ */

static bool number_of(mo_model *m, ex_id e, double *x)
{
    uint32_t unknown;
    return e && mo_evaluate_number(m, e, x, &unknown);
}

static bool outside(mo_model *m, const flat_variable *v)
{
    double x, limit;
    if (v->variability > FLAT_PARAMETER || (!v->min && !v->max) || !number_of(m, v->binding, &x))
        return false;
    bool low = number_of(m, v->min, &limit) && x < limit;
    if (!low && !(number_of(m, v->max, &limit) && x > limit)) return false;
    mo_warning(m->context, v->place, "'%s' is %.10g, %s than its %s of %.10g", v->name, x,
               low ? "less" : "more", low ? "min" : "max", limit);
    mo_hint(m->context, "look for a wrong value or unit, or change '%s' in the declaration",
            low ? "min" : "max");
    return true;
}

/* One warning for a declaration, however many elements it has. Nobody's equations depend on the
 * values seen here: what is 'structural' stays as it was. */
static void check_limits(mo_model *m)
{
    flat_model *flat = m->flat;
    bool *structural = dae_arena_take(&m->context->arena, flat->variables + 1, sizeof *structural);
    for (size_t i = 0; i < flat->variables; i++) structural[i] = flat->variable[i].structural;
    const flat_variable *said = NULL;
    for (size_t i = 0; i < flat->variables; i++) {
        const flat_variable *v = &flat->variable[i];
        bool same =
            said && said->place.source == v->place.source && said->place.offset == v->place.offset;
        if (!same && outside(m, v)) said = v;
    }
    for (size_t i = 0; i < flat->variables; i++) flat->variable[i].structural = structural[i];
}

void mo_check_flat(mo_model *m)
{
    flat_model *flat = m->flat;
    survey s = { .m = m, .varies = dae_arena_take(&m->context->arena, m->graph->nodes + 1, 1) };
    for (ex_id e = 1; e < m->graph->nodes; e++) s.varies[e] = (unsigned char)of_node(&s, e);
    for (size_t i = 0; i < flat->variables; i++)
        if (!binding(&s, &flat->variable[i])) return;
    const flat_variable *said = NULL;
    for (size_t i = 0; i < flat->variables; i++)
        if (!attributes(&s, &flat->variable[i], said)) said = &flat->variable[i];
    check_limits(m);
}
