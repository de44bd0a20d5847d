/* flatten.c: a class of the text becomes a flat model. */
#include "modelica/instance.h"

#include <math.h>
#include <string.h>

static const char *locate(dae_place place, void *context)
{
    mo_context *c = context;
    if (!place.source) return "";
    int line, column;
    mo_find_line(c, place, &line, &column);
    return dae_arena_print(&c->arena, "%s:%d:%d", c->source[place.source - 1].name, line, column);
}

/* An interval goes from a start to a later stop; steps and tolerances that are not positive are none. */
static void check_experiment(mo_model *m, flat_experiment *x, mo_place place)
{
    double *positive[] = { &x->tolerance, &x->interval };
    for (int k = 0; k < 2; k++) {
        bool most = k > 0 || *positive[k] < 1; /* a tolerance of 1 asks for no digit */
        if (isnan(*positive[k]) || (*positive[k] > 0 && most)) continue;
        mo_warning(m->context, place, "%s of the experiment is %.10g: it is not taken",
                   k ? "Interval" : "Tolerance", *positive[k]);
        mo_hint(m->context,
                *positive[k] > 0 ? "a number below 1 is needed" : "a positive number is needed");
        *positive[k] = NAN;
    }
    double start = isnan(x->start) ? 0 : x->start;
    if (isnan(x->stop) || x->stop >= start) return;
    mo_error(m->context, DAE_E_MODEL, place, "the experiment ends before it begins");
    mo_why(m->context, "StartTime = %.10g%s, StopTime = %.10g", start,
           isnan(x->start) ? " if it is not given" : "", x->stop);
    mo_hint(m->context, "give a StopTime that is larger, or a StartTime that is smaller");
}

/* annotation(experiment(StopTime = 10)) */
static void read_experiment(mo_model *m, mo_view *v, flat_experiment *x)
{
    *x = (flat_experiment){ NAN, NAN, NAN, NAN };
    const mo_modifier *a = v->def->annotation;
    for (int i = 0; a && i < a->items; i++) {
        const mo_modifier *e = a->item[i];
        if (!e->name || strcmp(e->name->part[0].name, "experiment") != 0) continue;
        for (int k = 0; k < e->items; k++) {
            if (!e->item[k]->name || !e->item[k]->value) continue;
            const char *name = e->item[k]->name->part[0].name;
            double *to = strcmp(name, "StartTime") == 0   ? &x->start
                         : strcmp(name, "StopTime") == 0  ? &x->stop
                         : strcmp(name, "Tolerance") == 0 ? &x->tolerance
                         : strcmp(name, "Interval") == 0  ? &x->interval
                                                          : NULL;
            if (!to) continue;
            mo_scope s = { .view = v };
            mo_value *value = mo_evaluate(m, &s, e->item[k]->value);
            uint32_t culprit;
            bool scalar = value->kind == MO_V_SCALAR && value->type <= EX_INTEGER;
            if (value->kind == MO_V_NONE ||
                (scalar && mo_evaluate_number(m, value->scalar, to, &culprit)))
                continue;
            mo_error(m->context, DAE_E_MODEL, e->item[k]->place,
                     "'%s' of the experiment is no number", name);
            mo_hint(m->context, "write experiment(%s = %s)", name,
                    to == &x->tolerance ? "1e-6" : "1");
        }
        check_experiment(m, x, e->place);
    }
}

static bool may_simulate(mo_model *m, const mo_view *v)
{
    mo_class_kind kind = v->def->kind;
    bool fits = kind == MO_MODEL || kind == MO_BLOCK || kind == MO_CLASS;
    if (fits && !v->def->partial) return true;
    mo_error(m->context, DAE_E_MODEL, v->def->place, "'%s' cannot be simulated: it is a %s%s",
             v->path, v->def->partial ? "partial " : "", mo_kind_name(kind));
    mo_hint(m->context, v->def->partial ? "simulate a model that extends it and completes it"
                                        : "choose a model or block");
    return false;
}

flat_model *mo_flatten_view(mo_model *m, mo_view *v)
{
    mo_expand(m, v);
    if (!may_simulate(m, v)) return m->flat;
    m->flat->name = v->path;
    m->flat->comment = v->def->comment;
    m->flat->locate = locate;
    m->flat->context = m->context;
    read_experiment(m, v, &m->flat->experiment);
    for (mo_mod *mod = v->mods; mod; mod = mod->next)
        if (!mo_find_entry(m, v, mod->name)) {
            mo_scope inside = { .view = v };
            mo_say_unknown(m, &inside, mod->name, mod->place, "element");
        }
    m->top = mo_new_object(m, v, NULL, NULL, "");
    mo_make_object(m, m->top);
    mo_object_connections(m, m->top);
    mo_finish_object(m, m->top);
    mo_object_equations(m, m->top);
    mo_finish_connections(m);
    if (!m->context->errors) mo_check_flat(m);
    if (!m->context->errors) mo_check_units(m);
    return m->flat;
}

void mo_model_init(mo_model *m, mo_context *c)
{
    *m = (mo_model){ .context = c,
                     .work_limit = MO_MAX_WORK,
                     .stack_base = MO_STACK_NOW,
                     .stack_room = mo_stack_room() };
    m->graph = dae_arena_take(&c->arena, 1, sizeof *m->graph);
    ex_graph_init(m->graph, &c->arena);
    m->flat = dae_arena_take(&c->arena, 1, sizeof *m->flat);
    m->flat->graph = m->graph;
    mo_load_root(m);
}

/* ------------------------------------------------------------------ which class ------ */

static bool can_simulate(const mo_class *c)
{
    return (c->kind == MO_MODEL || c->kind == MO_BLOCK || c->kind == MO_CLASS) && !c->partial;
}

static bool has_experiment(const mo_class *c)
{
    for (int i = 0; c->annotation && i < c->annotation->items; i++) {
        const mo_modifier *a = c->annotation->item[i];
        if (a->name && strcmp(a->name->part[0].name, "experiment") == 0) return true;
    }
    return false;
}

/* The last class that can be simulated, in a package the last with an experiment. */
static mo_class *candidate(mo_class *c, bool experiment)
{
    if (can_simulate(c) && (!experiment || has_experiment(c))) return c;
    if (c->kind != MO_PACKAGE) return NULL;
    for (int i = c->elements; i-- > 0;)
        if (c->element[i]->kind == MO_NESTED) {
            mo_class *child = c->element[i]->nested;
            child->parent = c;
            mo_class *found = candidate(child, experiment);
            if (found) return found;
        }
    return NULL;
}

static mo_view *view_of(mo_model *m, mo_class *c)
{
    if (!c->parent || c->parent == m->root_class) {
        mo_entry *e = mo_find_entry(m, m->root, c->name);
        return e ? mo_nested_view(m, e) : NULL;
    }
    mo_view *outer = view_of(m, c->parent);
    mo_entry *e = outer ? mo_find_entry(m, outer, c->name) : NULL;
    return e && e->element->kind == MO_NESTED ? mo_nested_view(m, e) : NULL;
}

/* The view to flatten: the class named, or the last of the text. NULL after an error. */
mo_view *mo_choose_class(mo_model *m, const char *name, mo_class *last)
{
    if (name) {
        uint32_t source = mo_add_source(m->context, "<model>", name, strlen(name));
        mo_ast *a = source ? mo_parse_expression(m->context, source) : NULL;
        if (!a || a->kind != MO_A_REFERENCE) {
            if (a) {
                mo_error(m->context, DAE_E_MODEL, a->place, "'%s' is no name of a class", name);
                mo_hint(m->context, "write Package.Model");
            }
            return NULL;
        }
        mo_scope s = { .view = m->root };
        return mo_find_class(m, &s, a->call.reference, true);
    }
    mo_class *c = last ? candidate(last, true) : NULL;
    if (!c && last) c = candidate(last, false);
    for (int i = m->root_class->elements; !c && last && i-- > 0;)
        c = candidate(m->root_class->element[i]->nested, false);
    if (!c) {
        if (!m->context->errors) {
            mo_error(m->context, DAE_E_MODEL, last ? last->place : (mo_place){ 0 },
                     "there is no model to simulate in the text");
            if (last && last->partial)
                mo_hint(m->context,
                        "'%s' is partial, the base of others: write "
                        "'model My%s extends %s; ... end My%s;'",
                        last->name, last->name, last->name, last->name);
            else
                mo_hint(m->context, "write 'model M ... end M;', or name a class with --model");
        }
        return NULL;
    }
    return view_of(m, c);
}

/* "R1.R=100": a modification from outside. */
mo_mod *mo_setting(mo_model *m, const char *text)
{
    const char *equal = strchr(text, '=');
    dae_arena *arena = &m->context->arena;
    if (!equal) {
        mo_error(m->context, DAE_E_OPTION, (mo_place){ 0 }, "'%s' sets nothing", text);
        mo_hint(m->context, "write name=value");
        return NULL;
    }
    uint32_t left = mo_add_source(m->context, "<set>", text, (size_t)(equal - text));
    uint32_t right = mo_add_source(m->context, "<set>", equal + 1, strlen(equal + 1));
    mo_ast *name = left ? mo_parse_expression(m->context, left) : NULL;
    mo_ast *value = right ? mo_parse_expression(m->context, right) : NULL;
    if (!name || !value) return NULL;
    if (name->kind != MO_A_REFERENCE) {
        mo_error(m->context, DAE_E_OPTION, name->place, "'%s' sets nothing", text);
        mo_hint(m->context, "write name=value");
        return NULL;
    }
    for (int i = 0; i < name->call.reference->parts; i++)
        if (name->call.reference->part[i].subscripts) {
            mo_error(m->context, DAE_E_OPTION, name->place, "'%s' sets one element of an array",
                     text);
            mo_hint(m->context, "set the whole array: a={1,2,3}");
            return NULL;
        }
    mo_modifier *item = dae_arena_take(arena, 1, sizeof *item);
    *item = (mo_modifier){ .name = name->call.reference, .value = value, .place = name->place };
    mo_modifier list = { .item = &item, .items = 1, .place = name->place };
    mo_object *nowhere = mo_constants(m, m->root);
    mo_mod *bound = mo_bind_mods(m, &list, m->root, nowhere);
    return bound->sub;
}
