/* consistent.c: what can only be seen when all is flat: parameters that depend on variables or on
 * each other in a circle, discrete variables that nothing sets.
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
    bool *set;             /* variables that a when-clause sets */
} survey;

static flat_variability of_node(const survey *s, ex_id e)
{
    const ex_node *n = ex_at(s->m->graph, e);
    flat_variability v = FLAT_CONSTANT;
    switch (n->op) {
    case EX_TIME: return FLAT_CONTINUOUS;
    case EX_VARIABLE: return s->m->flat->variable[n->a].variability;
    case EX_PRE: case EX_INITIAL: case EX_TERMINAL: case EX_SAMPLE: return FLAT_DISCRETE;
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
        if (n->op == EX_VARIABLE)
            return &s->m->flat->variable[n->a];
        ex_id next = 0;
        for (size_t k = 0; k < ex_operand_count(s->m->graph, e) && !next; k++)
            if (s->varies[ex_operand(s->m->graph, e, k)] > (unsigned char)allowed)
                next = ex_operand(s->m->graph, e, k);
        if (!next)
            return NULL;
        e = next;
    }
}

static const char *const word[] = { [FLAT_CONSTANT] = "a constant", [FLAT_PARAMETER] = "a parameter",
                                    [FLAT_DISCRETE] = "a discrete variable",
                                    [FLAT_CONTINUOUS] = "a variable" };

static bool binding(survey *s, const flat_variable *v)
{
    if (v->variability > FLAT_PARAMETER || !v->binding ||
        s->varies[v->binding] <= (unsigned char)v->variability)
        return true;
    const flat_variable *why = culprit(s, v->binding, v->variability);
    mo_error(s->m->context, DAE_E_MODEL, v->place, "'%s' is %s, but its value varies more than that",
             v->name, word[v->variability]);
    if (why)
        mo_why(s->m->context, "it depends on '%s', which is %s", why->name, word[why->variability]);
    else
        mo_why(s->m->context, "it depends on the time or on an event");
    mo_hint(s->m->context, v->variability == FLAT_CONSTANT ? "declare '%s' as a parameter or variable"
                           : "remove 'parameter' from '%s', or use parameters only", v->name);
    return false;
}

/* ------------------------------------------------------------------ circles ---------- */

typedef struct path {
    uint32_t *variable; /* parameters on the way, one after the other */
    size_t length;
} path;

enum { FRESH, OPEN, CLOSED };

typedef struct frame {
    ex_id node;
    uint32_t variable; /* the parameter entered, UINT32_MAX: none */
    size_t next;
} frame;

static void say_circle(mo_model *m, const path *p, uint32_t back)
{
    size_t first = 0;
    while (p->variable[first] != back)
        first++;
    const char *text = m->flat->variable[back].name;
    for (size_t i = first + 1; i < p->length && i < first + 12; i++)
        text = dae_arena_print(&m->context->arena, "%s -> %s", text,
                               m->flat->variable[p->variable[i]].name);
    mo_error(m->context, DAE_E_MODEL, m->flat->variable[back].place, "the value of '%s' depends on itself",
             m->flat->variable[back].name);
    mo_why(m->context, "%s -> %s%s", text, p->length > first + 12 ? "... -> " : "",
           m->flat->variable[back].name);
    mo_hint(m->context, "give one of them a value of its own");
}

/* Is the branch k (1: then, 2: else) not taken, for the values that parameters have? */
static bool never(mo_model *m, const ex_node *n, size_t k)
{
    double x;
    uint32_t culprit;
    return mo_evaluate_number(m, n->a, &x, &culprit) && (x != 0) != (k == 1);
}

/* Depth first through the bindings of parameters, with a stack of our own. */
static void circles(survey *s)
{
    mo_model *m = s->m;
    flat_model *flat = m->flat;
    dae_arena *arena = &m->context->arena;
    unsigned char *seen = dae_arena_take(arena, m->graph->nodes + 1, 1);
    unsigned char *state = dae_arena_take(arena, flat->variables + 1, 1);
    path p = { .variable = dae_arena_take(arena, flat->variables + 1, sizeof *p.variable) };
    frame *stack = NULL;
    size_t depth = 0, capacity = 0;
    for (size_t i = 0; i < flat->variables; i++) {
        if (state[i] != FRESH || flat->variable[i].variability > FLAT_PARAMETER ||
            !flat->variable[i].binding)
            continue;
        stack = dae_arena_grow(arena, stack, depth, &capacity, sizeof *stack);
        stack[depth++] = (frame){ flat->variable[i].binding, (uint32_t)i, 0 };
        state[i] = OPEN;
        p.variable[p.length++] = (uint32_t)i;
        while (depth) {
            frame *top = &stack[depth - 1];
            const ex_node *n = ex_at(m->graph, top->node);
            frame below = { 0, UINT32_MAX, 0 };
            if (n->op == EX_VARIABLE && top->next == 0) {
                top->next = 1;
                const flat_variable *v = &flat->variable[n->a];
                if (state[n->a] == OPEN && v->variability <= FLAT_PARAMETER) {
                    say_circle(m, &p, n->a);
                    return;
                }
                if (state[n->a] == FRESH && v->variability <= FLAT_PARAMETER && v->binding)
                    below = (frame){ v->binding, n->a, 0 };
            } else if (n->op != EX_VARIABLE && top->next < ex_operand_count(m->graph, top->node)) {
                size_t k = top->next++;
                ex_id operand = ex_operand(m->graph, top->node, k);
                if (!seen[operand] && !(n->op == EX_IF && k > 0 && never(m, n, k)))
                    below.node = operand;
            } else { /* all of it seen */
                if (n->op != EX_VARIABLE)
                    seen[top->node] = 1;
                if (top->variable != UINT32_MAX) {
                    state[top->variable] = CLOSED;
                    p.length--;
                }
                depth--;
                continue;
            }
            if (!below.node)
                continue;
            if (below.variable != UINT32_MAX) {
                state[below.variable] = OPEN;
                p.variable[p.length++] = below.variable;
            }
            stack = dae_arena_grow(arena, stack, depth, &capacity, sizeof *stack);
            stack[depth++] = below;
        }
    }
}

/* ------------------------------------------------------------------ all -------------- */

static void sets(survey *s, const flat_when *w)
{
    for (; w; w = w->otherwise)
        for (size_t i = 0; i < w->actions; i++)
            if (w->action[i].kind == FLAT_SET)
                s->set[ex_at(s->m->graph, w->action[i].target)->a] = true;
}

void mo_check_flat(mo_model *m)
{
    flat_model *flat = m->flat;
    dae_arena *arena = &m->context->arena;
    survey s = { .m = m, .varies = dae_arena_take(arena, m->graph->nodes + 1, 1),
                 .set = dae_arena_take(arena, flat->variables + 1, sizeof *s.set) };
    for (ex_id e = 1; e < m->graph->nodes; e++)
        s.varies[e] = (unsigned char)of_node(&s, e);
    for (size_t i = 0; i < flat->whens; i++)
        sets(&s, flat->when[i]);
    for (size_t i = 0; i < flat->variables; i++)
        if (!binding(&s, &flat->variable[i]))
            return;
    circles(&s);
}
