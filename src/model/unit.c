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
    return ex_run(u->machine, u->in, u->out);
}

/* A function of the model stopped: an assertion in it, an index out of range. */
dae_status unit_trouble(model *m, const model_unit *u, dae_status status, const char *doing)
{
    const ex_trouble *t = u->native ? ex_native_trouble(u->native) : ex_machine_trouble(u->machine);
    char where[LOCATED] = "";
    const char *what = t && t->what ? t->what : "trouble";
    bool assertion = !strcmp(what, "assertion");
    bool endless = !strcmp(what, "too much work") || !strcmp(what, "recursion too deep");
    if (t) model_locate(m, t->place, where, sizeof where);
    dae_fail(&m->report, assertion ? DAE_E_ASSERT : endless ? DAE_E_WORK : status, "%s: %s%s%s%s", doing,
             endless ? "a function does not end: " : "",
             assertion ? "an assertion failed" : what, t && t->message ? ": " : "",
             t && t->message ? t->message : "");
    dae_at(&m->report, "t = %.10g%s", m->value[0], where);
    if (t && t->node)
        dae_why(&m->report, "in %s", ex_print(m->g, t->node, flat_name, m->flat, 100));
    if (endless) dae_hint(&m->report, "look at the condition of the loop or recursion in it");
    return m->report.status;
}
