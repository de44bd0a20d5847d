/* unit.c: a compiled program whose inputs are slots of the model. */
#include "model/object.h"

#include "expression/native.h"
#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
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

static bool contains(model *m, const ex_id *root, size_t roots, ex_id wanted)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(m->g, root, roots);
    for (size_t i = 0; i < w->count && !found; i++) found = w->order[i] == wanted;
    ex_walk_end(m->g, w);
    return found;
}

/* Where an expression is written: in an equation, an assertion or a declaration. */
static void say_place(model *m, ex_id e)
{
    const flat_model *f = m->flat;
    char where[LOCATED];
    for (size_t i = 0; i < f->equations + f->initials; i++) {
        const flat_equation *q = i < f->equations ? &f->equation[i] : &f->initial[i - f->equations];
        if (!contains(m, (ex_id[]){ q->left, q->right }, 2, e)) continue;
        model_locate(m, q->place, where, sizeof where);
        dae_at(&m->report, "equation '%s = %s'%s", ex_print(m->g, q->left, flat_name, m->flat, 80),
               ex_print(m->g, q->right, flat_name, m->flat, 120), where);
        return;
    }
    for (size_t i = 0; i < f->assertions; i++) {
        if (!contains(m, (ex_id[]){ f->assertion[i].condition, f->assertion[i].message }, 2, e))
            continue;
        model_locate(m, f->assertion[i].place, where, sizeof where);
        dae_at(&m->report, "an assertion%s", where);
        return;
    }
    for (size_t v = 0; v < f->variables; v++) {
        const flat_variable *x = &f->variable[v];
        if (!contains(m, (ex_id[]){ x->binding, x->start, x->min, x->max, x->nominal }, 5, e))
            continue;
        model_locate(m, x->place, where, sizeof where);
        dae_at(&m->report, "the declaration of '%s'%s", x->name, where);
        return;
    }
    dae_at(&m->report, "model '%s'", f->name ? f->name : "");
}

static dae_status tell_culprit(model *m, ex_id culprit)
{
    const ex_node n = *ex_at(m->g, culprit);
    const char *text = ex_print(m->g, culprit, flat_name, m->flat, 80);
    dae_fail(&m->report, DAE_E_UNSUPPORTED, "an expression cannot be computed: %s", text);
    say_place(m, culprit);
    if (n.op == EX_VARIABLE)
        dae_why(&m->report,
                "%s has no value there: a function or an algorithm reads it that does not "
                "get it as an input",
                text);
    else if (n.type == EX_STRING)
        dae_why(&m->report, "it is a text, and only numbers are computed during a simulation");
    else
        dae_why(&m->report, "'%s' has no value during a simulation", ex_ops[n.op].name);
    dae_hint(&m->report,
             "write the expression in another way, or compute it in an equation of its own");
    return DAE_E_UNSUPPORTED;
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
    return tell_culprit(m, culprit);
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
    u->native =
        ex_native_open(m->g, leaf, u->ins, output, u->outs, NULL, &m->memory, &culprit, &m->report);
    return u->native ? DAE_OK : DAE_E_COMPILER;
}

/* Did a function go on and on? To compute it again would take as long again. */
static bool has_no_end(const ex_trouble *t)
{
    return t->what && (!strcmp(t->what, "recursion too deep") || !strcmp(t->what, "too much work"));
}

int unit_run(model *m, model_unit *u)
{
    unit_gather(m, u);
    int status = ex_run(u->machine, u->in, u->out);
    const ex_trouble *t = status == DAE_OK ? NULL : ex_machine_trouble(u->machine);
    if (t && has_no_end(t)) {
        m->endless = *t;
        m->endless.slot = NULL; /* the machine's, and soon other values */
    }
    return status;
}

/* ---------------------------------------------------------------- trouble --------------- */

/* What stopped, with the slots of the procedure where it did: those of values are there, those of
 * derivatives and of machine code are found by computing the values once more. */
static ex_trouble find_trouble(const model_unit *u)
{
    ex_trouble t = *(u->native ? ex_native_trouble(u->native) : ex_machine_trouble(u->machine));
    if (!t.procedure || t.slot || has_no_end(&t) || ex_run(u->machine, u->in, u->out) == DAE_OK)
        return t;
    return *ex_machine_trouble(u->machine);
}

static ex_id value_of_slot(ex_graph *g, ex_id leaf, void *user)
{
    const ex_trouble *t = user;
    const ex_node n = *ex_at(g, leaf);
    double index = 0;
    if (n.op == EX_ELEMENT && !ex_is_number(g, n.c, &index)) return leaf;
    if (n.op != EX_LOCAL && n.op != EX_ELEMENT) return leaf;
    double slot = n.a + index;
    return t->slot && slot >= 0 && slot < t->slots
               ? ex_constant(g, t->slot[(uint32_t)slot], (ex_type)n.type)
               : leaf;
}

typedef struct speaker {
    model *m;
    ex_trouble *t;
} speaker;

static double value_where(ex_id e, void *user)
{
    const speaker *s = user;
    double value = NAN;
    ex_substitute(s->m->g, &e, 1, value_of_slot, s->t);
    ex_is_number(s->m->g, e, &value);
    return value;
}

/* "z < 1 is false; z = 1.5, n = 3", or which index it was. */
static void say_where(model *m, ex_trouble *t, bool assertion)
{
    ex_style style = { .name = flat_name,
                       .user = m->flat,
                       .limit = 100,
                       .procedure = t->procedure ? m->g->procedure[t->procedure - 1] : NULL };
    const ex_node n = *ex_at(m->g, t->node);
    speaker s = { m, t };
    char list[300] = "";
    size_t length = 0;
    bool index = !strcmp(t->what, "index out of range");
    ex_id e = index && n.op == EX_ELEMENT ? n.c : t->node;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t i = 0; i < w->count && length < 200; i++) {
        ex_id leaf = w->order[i];
        uint32_t slot = ex_at(m->g, leaf)->a;
        if (ex_at(m->g, leaf)->op != EX_LOCAL || !style.procedure ||
            slot >= style.procedure->slot_names || !style.procedure->slot_name[slot])
            continue;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.60s = %.10g",
                                   length ? ", " : "; ", style.procedure->slot_name[slot],
                                   value_where(leaf, &s));
    }
    ex_walk_end(m->g, w);
    if (!t->slot) list[0] = 0;
    if (index && t->slot) {
        const char *array = style.procedure && e != t->node && n.a < style.procedure->slot_names
                                ? style.procedure->slot_name[n.a]
                                : NULL;
        dae_why(&m->report, "the index is %.10g%s", 1 + value_where(e, &s), list);
        if (array)
            dae_why(&m->report, "'%.*s' has %u elements", (int)strcspn(array, "["), array, n.b);
    }
    if (!index || !t->slot)
        dae_why(&m->report, "%s%s%s%s", assertion ? "" : "in ", ex_print_as(m->g, t->node, &style),
                assertion ? " is false" : "", list);
    if (style.procedure) dae_why(&m->report, "in '%s'", style.procedure->name);
}

/* "recursion without end in the function 'f'", "an assertion failed: x is too large" */
static const char *describe_trouble(model *m, ex_trouble *t)
{
    const ex_node *n = ex_at(m->g, t->node);
    const char *what = t->what ? t->what : "trouble";
    const char *function = n->op == EX_CALL ? m->g->procedure[n->a]->name : t->message;
    char words[1000] = "";
    if (!strcmp(what, "assertion")) {
        if (t->words)
            ex_words(m->g, t->words, value_where, &(speaker){ m, t }, words, sizeof words);
        return dae_arena_print(&m->arena, "an assertion failed%s%s", words[0] ? ": " : "", words);
    }
    if (has_no_end(t) && function) {
        bool section = !strcmp(function, "algorithm"); /* an algorithm section as a procedure */
        return dae_arena_print(
            &m->arena, "%s in %s%s%s%s",
            !strcmp(what, "too much work") ? "too much work" : "recursion without end",
            section ? "an algorithm section" : "the function '", section ? "" : function,
            section ? "" : "'",
            !strcmp(what, "too much work") ? ": a loop or recursion without end?" : "");
    }
    return what;
}

static dae_status say_trouble(model *m, ex_trouble *t, dae_status status, const char *doing)
{
    char where[LOCATED] = "";
    bool assertion = t->what && !strcmp(t->what, "assertion");
    model_locate(m, t->place, where, sizeof where);
    dae_fail(&m->report,
             assertion       ? DAE_E_ASSERT
             : has_no_end(t) ? DAE_E_WORK
                             : status,
             "%s: %s", doing, describe_trouble(m, t));
    dae_at(&m->report, "t = %.10g%s", m->value[0], where);
    if (t->node) say_where(m, t, assertion);
    if (t->what && !strcmp(t->what, "an Integer becomes too large"))
        dae_hint(&m->report, "compute with Real numbers: the largest Integer is %lld",
                 EX_LARGEST_INTEGER);
    return m->report.status;
}

/* A function of the model stopped: an assertion in it, an index out of range, or it has no end. */
dae_status unit_trouble(model *m, const model_unit *u, dae_status status, const char *doing)
{
    ex_trouble t = find_trouble(u);
    return say_trouble(m, &t, status, doing);
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
