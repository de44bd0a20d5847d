/* unit.c: a compiled program whose inputs are slots of the model. */
#include "model/object.h"

#include "expression/native.h"
#include "expression/walk.h"

#include <string.h>

uint32_t leaf_slot(const ex_graph *g, ex_id e)
{
    const ex_node *n = ex_at(g, e);
    if (n->op == EX_TIME) return 0;
    if (n->op == EX_VARIABLE) return slot_of(n->a, n->b);
    return NOWHERE;
}

/* The leaves that the outputs need, as inputs of a program. */
static ex_id *collect_leaves(model *m, model_unit *u, const ex_id *output, size_t outputs)
{
    ex_walk *w = ex_walk_begin(m->g, output, outputs);
    ex_id *leaf = dae_arena_take(&m->arena, w->count, sizeof *leaf);
    u->slot = dae_arena_take(&m->arena, w->count, sizeof *u->slot);
    u->ins = 0;
    for (size_t i = 0; i < w->count; i++) {
        uint32_t slot = leaf_slot(m->g, w->order[i]);
        if (slot == NOWHERE) continue;
        leaf[u->ins] = w->order[i];
        u->slot[u->ins++] = slot;
    }
    ex_walk_end(m->g, w);
    return leaf;
}

dae_status unit_open(model *m, model_unit *u, const ex_id *output, size_t outputs)
{
    unit_close(m, u);
    *u = (model_unit){ .outs = outputs };
    ex_id culprit = 0, *leaf = collect_leaves(m, u, output, outputs);
    u->in = dae_arena_take(&m->arena, u->ins + 1, sizeof *u->in);
    u->out = dae_arena_take(&m->arena, outputs + 1, sizeof *u->out);
    u->program = ex_compile(m->g, leaf, u->ins, output, outputs, &m->memory, &culprit);
    if (u->program) u->machine = ex_machine_open(u->program, &m->memory);
    if (u->machine) return DAE_OK;
    if (!culprit) return dae_fail(&m->report, DAE_E_NOMEM, "no memory for the model's program");
    dae_fail(&m->report, DAE_E_UNSUPPORTED, "an expression cannot be computed: %s",
             ex_print(m->g, culprit, flat_name, m->flat, 80));
    return DAE_E_UNSUPPORTED;
}

void unit_close(model *m, model_unit *u)
{
    (void)m;
    ex_native_close(u->native);
    ex_machine_close(u->machine);
    ex_program_free(u->program);
    u->native = NULL;
    u->machine = NULL;
    u->program = NULL;
}

dae_status unit_tangents(model *m, model_unit *u)
{
    u->in_tangent = dae_arena_take(&m->arena, (u->ins + 1) * EX_LANES, sizeof(double));
    u->out_tangent = dae_arena_take(&m->arena, (u->outs + 1) * EX_LANES, sizeof(double));
    return DAE_OK;
}

void unit_gather(model *m, model_unit *u)
{
    for (size_t i = 0; i < u->ins; i++) u->in[i] = m->value[u->slot[i]];
}

int unit_values(model_unit *u, double *out)
{
    return u->native ? ex_native_run(u->native, u->in, out) : ex_run(u->machine, u->in, out);
}

/* The same program as machine code; the report says why not, and the machine goes on. */
dae_status unit_make_native(model *m, model_unit *u, const ex_id *output)
{
    ex_id *leaf = dae_arena_take(&m->arena, u->ins + 1, sizeof *leaf), culprit = 0;
    for (size_t i = 0; i < u->ins; i++) {
        uint32_t v = u->slot[i] ? slot_variable(u->slot[i]) : 0;
        leaf[i] = u->slot[i] == 0 ? ex_time(m->g)
                                  : ex_variable(m->g, v, (u->slot[i] - 1) % 3, m->variable[v].type);
    }
    ex_native_close(u->native);
    u->native = ex_native_open(m->g, leaf, u->ins, output, u->outs, NULL, &m->memory, &culprit,
                               &m->report);
    return u->native ? DAE_OK : DAE_E_COMPILER;
}

int unit_run(model *m, model_unit *u)
{
    unit_gather(m, u);
    int status = ex_run(u->machine, u->in, u->out);
    const ex_trouble *t = status == DAE_OK ? NULL : ex_machine_trouble(u->machine);
    if (t && (!strcmp(t->what, "recursion too deep") || !strcmp(t->what, "too much work")))
        m->endless = *t;
    return status;
}

/* What a function did: an assertion in it failed, an index was out of range, it had no end. */
static const char *describe_trouble(model *m, const ex_trouble *t)
{
    const ex_node *n = t ? ex_at(m->g, t->node) : NULL;
    const char *what = t && t->what ? t->what : "trouble";
    bool called = n && n->op == EX_CALL;
    if (!strcmp(what, "assertion"))
        return t->message ? dae_arena_print(&m->arena, "an assertion failed: %s", t->message)
                          : "an assertion failed";
    if (!strcmp(what, "recursion too deep") && called)
        return dae_arena_print(&m->arena, "recursion without end in the function '%s'",
                               m->g->procedure[n->a]->name);
    if (!strcmp(what, "too much work") && (called || t->message))
        return dae_arena_print(&m->arena, "a loop without end in the function '%s'",
                               called ? m->g->procedure[n->a]->name : t->message);
    return what;
}

static dae_status say_trouble(model *m, const ex_trouble *t, dae_status status, const char *doing)
{
    char where[LOCATED] = "";
    bool assertion = t && t->what && !strcmp(t->what, "assertion");
    if (t) model_locate(m, t->place, where, sizeof where);
    dae_fail(&m->report, assertion ? DAE_E_ASSERT : status, "%s: %s", doing, describe_trouble(m, t));
    dae_at(&m->report, "t = %.10g%s", m->value[0], where);
    if (t && t->node)
        dae_why(&m->report, "in %s", ex_print(m->g, t->node, flat_name, m->flat, 100));
    return m->report.status;
}

dae_status unit_trouble(model *m, const model_unit *u, dae_status status, const char *doing)
{
    const ex_trouble *t = u->native ? ex_native_trouble(u->native) : ex_machine_trouble(u->machine);
    return say_trouble(m, t, status, doing);
}

/* Where no solution was found because a function had no end, that is the cause. */
dae_status model_blame_endless(model *m, dae_status status)
{
    if (status != DAE_E_INCONSISTENT || !m->endless.what) return status;
    dae_report_clear(&m->report);
    status = say_trouble(m, &m->endless, DAE_E_INCONSISTENT, "computing the equations");
    dae_hint(&m->report, "look at the condition that ends it, for these arguments");
    return status;
}
