/* declared.c: annotation(derivative = f_der): the derivative that a function declares.
 *
 * A function becomes an expression or a procedure, either of which can be differentiated; but if it
 * says what its derivative in time is, that counts. So the values of its calls are marked with the
 * arguments (EX_DECLARED), and what it declares is called once for every combination of sizes, with
 * place holders for the arguments and their rates: f_der(x, y, der_x, der_y).
 *
 * Attributes: noDerivative = y, zeroDerivative = y leave der_y out, the latter only where y does not
 * move; order = 2 of a first derivative f_der(x, der_x) is f_2(x, der_x, der_2_x), where der_x is the
 * rate of x. The first annotation whose conditions hold is taken, if none does the value is derived; so
 * it is if the derivative would bring in variables on which the value does not depend (derive.c).
 */
#include "modelica/instance.h"

#include "expression/walk.h"

#include <string.h>

enum { MOST_INPUTS = 1000 };

typedef struct mo_declared_case {
    const char *key;
    uint32_t procedure;
    struct mo_declared_case *next;
} mo_declared_case;

/* An input: the place holders that stand for it, and their rates. */
typedef struct input {
    mo_entry *entry;
    mo_value *value, *rate;
    uint32_t first, count; /* of its place holders */
    bool real;             /* it contains Reals */
} input;

typedef struct calling {
    mo_model *m;
    mo_view *f;
    input *input;
    size_t inputs;
    mo_leaves argument;
    const char *key;
    uint32_t rates; /* how many arguments there are: the first rate */
    mo_place place;
} calling;

/* ------------------------------------------------------------------ arguments -------- */

static bool is_input(const mo_entry *e)
{
    return e->element->kind == MO_COMPONENT && e->element->input;
}

static ex_id hold_place(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    calling *c = user;
    double x;
    if (type == EX_STRING) return leaf;
    if (type != EX_REAL && ex_is_number(m->graph, leaf, &x)) {
        c->key = dae_arena_print(&m->context->arena, "%s %.0f", c->key, x);
        return leaf;
    }
    uint32_t k = (uint32_t)c->argument.leaves;
    mo_collect_leaf(m, leaf, type, &c->argument);
    c->key = dae_arena_print(&m->context->arena, "%s *", c->key);
    return ex_leaf(m->graph, EX_LOCAL, ex_place_holder(k), 0, 0, type);
}

static ex_id hold_rate(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    const calling *c = user;
    if (type != EX_REAL || ex_at(m->graph, leaf)->op != EX_LOCAL) return leaf;
    uint32_t k = ex_place_holder(0) - ex_at(m->graph, leaf)->a;
    return ex_leaf(m->graph, EX_LOCAL, ex_place_holder(c->rates + k), 0, 0, EX_REAL);
}

static ex_id note_real(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    (void)m;
    *(bool *)user |= type == EX_REAL;
    return leaf;
}

static void hold_inputs(calling *c, mo_env *env)
{
    mo_model *m = c->m;
    c->input = dae_arena_take(&m->context->arena, c->f->entries + 1, sizeof *c->input);
    c->key = "";
    for (size_t i = 0; i < c->f->entries; i++) {
        mo_env *e = is_input(c->f->entry[i]) ? mo_find_env(env, c->f->entry[i]->name) : NULL;
        if (!e) continue;
        input *in = &c->input[c->inputs++];
        *in = (input){ .entry = c->f->entry[i], .first = (uint32_t)c->argument.leaves };
        c->key = dae_arena_print(&m->context->arena, "%s;%s", c->key, mo_shape(m, e->value));
        in->value = mo_for_leaves(m, e->value, hold_place, c);
        in->count = (uint32_t)c->argument.leaves - in->first;
        mo_for_leaves(m, in->value, note_real, &in->real);
    }
    c->rates = (uint32_t)c->argument.leaves;
    for (size_t i = 0; i < c->inputs; i++)
        c->input[i].rate = mo_for_leaves(m, c->input[i].value, hold_rate, c);
}

/* Does an argument change with time? Otherwise there is nothing to derive. */
static bool moves(const calling *c)
{
    mo_model *m = c->m;
    bool found = false;
    ex_walk *w = ex_walk_begin(m->graph, c->argument.leaf, c->argument.leaves);
    for (size_t i = 0; i < w->count && !found; i++) {
        const ex_node *n = ex_at(m->graph, w->order[i]);
        found = n->op == EX_TIME || n->op == EX_LOCAL ||
                (n->op == EX_VARIABLE && (n->a >= m->flat->variables ||
                                          m->flat->variable[n->a].variability > FLAT_PARAMETER));
    }
    ex_walk_end(m->graph, w);
    return found;
}

/* ------------------------------------------------------------------ an annotation ---- */

typedef struct annotation {
    const mo_modifier *modifier;
    mo_view *derivative;
    int order;
    bool *left_out, *still; /* of the inputs: no rate is given; it must be zero */
} annotation;

static bool is_called(const mo_modifier *a, const char *name)
{
    return a->name && a->name->parts == 1 && strcmp(a->name->part[0].name, name) == 0;
}

static bool refuse(calling *c, const mo_modifier *at, const char *hint, const char *what)
{
    mo_error(c->m->context, DAE_E_MODEL, at->place, "the derivative of the function '%s': %s",
             c->f->def->name, what);
    mo_hint(c->m->context, "%s", hint);
    return false;
}

/* noDerivative = x, zeroDerivative = x, order = 2 */
static bool read_attribute(calling *c, annotation *a, const mo_modifier *at)
{
    dae_arena *arena = &c->m->context->arena;
    bool none = is_called(at, "noDerivative"), zero = is_called(at, "zeroDerivative");
    if (is_called(at, "order")) {
        mo_scope s = { .view = c->f, .no_event = true };
        double x = 0;
        if (at->value && mo_constant_number(c->m, mo_evaluate(c->m, &s, at->value), &x) && x >= 1 &&
            x <= 100 && x == (int)x) {
            a->order = (int)x;
            return true;
        }
        return refuse(c, at, "order is a whole number from 1 on", "this is no order");
    }
    if (!none && !zero)
        return refuse(c, at, "the attributes are order, noDerivative and zeroDerivative",
                      dae_arena_print(arena, "there is no attribute '%s'",
                                      at->name ? at->name->part[0].name : ""));
    const char *name = at->value && at->value->kind == MO_A_REFERENCE
                           ? at->value->call.reference->part[0].name
                           : "";
    for (size_t i = 0; i < c->inputs; i++)
        if (strcmp(c->input[i].entry->name, name) == 0) {
            a->left_out[i] = true;
            a->still[i] = zero;
            return true;
        }
    return refuse(c, at, "name an input of the function",
                  dae_arena_print(arena, "the function has no input '%s'", name));
}

static bool read_annotation(calling *c, annotation *a)
{
    dae_arena *arena = &c->m->context->arena;
    const mo_modifier *at = a->modifier;
    mo_scope s = { .view = c->f };
    a->order = 1;
    a->left_out = dae_arena_take(arena, c->inputs + 1, sizeof *a->left_out);
    a->still = dae_arena_take(arena, c->inputs + 1, sizeof *a->still);
    if (!at->value || at->value->kind != MO_A_REFERENCE)
        return refuse(c, at, "write derivative = name of a function", "this is no function");
    for (int i = 0; i < at->items; i++)
        if (!read_attribute(c, a, at->item[i])) return false;
    a->derivative = mo_find_class(c->m, &s, at->value->call.reference, true);
    if (!a->derivative) return false;
    mo_expand(c->m, a->derivative);
    if (!mo_is_kind(c->m, a->derivative, MO_FUNCTION))
        return refuse(c, at, "write derivative = name of a function",
                      dae_arena_print(arena, "'%s' is no function", a->derivative->def->name));
    return true;
}

/* The inputs whose rates are given, in order: all that contain Reals and are not left out; of a
 * higher order the last of them only. How many; -1: they do not go up. */
static int list_rates(const calling *c, const annotation *a, size_t *list)
{
    int count = 0;
    for (size_t i = 0; i < c->inputs; i++)
        if (c->input[i].real && !a->left_out[i]) list[count++] = i;
    if (count % a->order != 0) return -1;
    return count;
}

/* Its inputs: those of the function, by the same names, then the rates. */
static bool inputs_fit(calling *c, const annotation *a, size_t rates)
{
    dae_arena *arena = &c->m->context->arena;
    const mo_view *d = a->derivative;
    size_t k = 0;
    for (size_t i = 0; i < d->entries; i++) {
        if (!is_input(d->entry[i])) continue;
        if (k < c->inputs && d->entry[i]->name != c->input[k].entry->name)
            return refuse(c, a->modifier, "first come all inputs of the function, then derivatives",
                          dae_arena_print(arena, "input %zu of '%s' is '%s', not '%s'", k + 1,
                                          d->def->name, d->entry[i]->name,
                                          c->input[k].entry->name));
        k++;
    }
    if (k == c->inputs + rates) return true;
    return refuse(c, a->modifier,
                  "one for each input of the function, and one for the derivative of "
                  "each that contains Reals and is not left out",
                  dae_arena_print(arena, "'%s' has %zu inputs instead of %zu", d->def->name, k,
                                  c->inputs + rates));
}

/* ------------------------------------------------------------------ what it gives ---- */

static ex_id collect_real(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    return type == EX_REAL ? mo_collect_leaf(m, leaf, type, user) : leaf;
}

static mo_leaves reals_of(mo_model *m, mo_value *v)
{
    mo_leaves list = { 0 };
    for (size_t i = 0; v->kind == MO_V_TUPLE && i < v->count; i++)
        mo_for_leaves(m, v->item[i], collect_real, &list);
    if (v->kind != MO_V_TUPLE) mo_for_leaves(m, v, collect_real, &list);
    return list;
}

static void set_conditions(calling *c, const annotation *a, const size_t *list, size_t count,
                           ex_declared *d)
{
    size_t each = count / (size_t)a->order;
    d->zero = dae_arena_take(&c->m->context->arena, c->rates + 1, sizeof *d->zero);
    d->same = dae_arena_take(&c->m->context->arena, c->rates + 1, sizeof *d->same);
    for (size_t i = 0; i < c->inputs; i++)
        for (uint32_t k = 0; k < c->input[i].count && a->still[i]; k++)
            d->zero[c->input[i].first + k] = true;
    for (size_t i = 0; i + each < count; i++) {
        const input *in = &c->input[list[i]], *its = &c->input[list[i + each]];
        for (uint32_t k = 0; k < in->count && k < its->count; k++)
            d->same[in->first + k] = 1 + its->first + k;
    }
}

/* The derivative as expressions in place holders; NULL: it is not right, which was said. */
static ex_declared *declare(calling *c, const mo_modifier *at, size_t outputs)
{
    mo_model *m = c->m;
    dae_arena *arena = &m->context->arena;
    annotation a = { .modifier = at };
    size_t *list = dae_arena_take(arena, c->inputs + 1, sizeof *list);
    if (!read_annotation(c, &a)) return NULL;
    int found = list_rates(c, &a, list);
    size_t count = found < 0 ? 0 : (size_t)found, each = count / (size_t)a.order;
    if (!inputs_fit(c, &a, each)) return NULL;
    mo_value **argument = dae_arena_take(arena, 2 * c->inputs + 1, sizeof *argument);
    for (size_t i = 0; i < c->inputs; i++) argument[i] = c->input[i].value;
    for (size_t i = 0; i < each; i++)
        argument[c->inputs + i] = c->input[list[count - each + i]].rate;
    mo_scope s = { .view = c->f, .no_event = true };
    size_t assertions = m->flat->assertions; /* they would speak of place holders */
    mo_value *v = mo_call_function(m, &s, a.derivative, argument, NULL, c->inputs + each, c->place);
    m->flat->assertions = assertions;
    if (v->kind == MO_V_NONE) return NULL;
    mo_leaves rate = reals_of(m, v);
    if (rate.leaves != outputs) {
        refuse(c, at, "one output for each output of the function that contains Reals, of its size",
               dae_arena_print(arena, "'%s' gives %zu numbers instead of %zu",
                               a.derivative->def->name, rate.leaves, outputs));
        return NULL;
    }
    ex_declared *d = dae_arena_take(arena, 1, sizeof *d);
    d->rate = rate.leaf;
    set_conditions(c, &a, list, count, d);
    return d;
}

/* ------------------------------------------------------------------ the call --------- */

static const mo_modifier *annotation_of(const mo_view *f)
{
    const mo_modifier *all = f->def->annotation;
    for (int i = 0; all && i < all->items; i++)
        if (is_called(all->item[i], "derivative")) return all;
    for (size_t i = 0; i < f->bases; i++)
        if ((all = annotation_of(f->base[i])) != NULL) return all;
    return NULL;
}

/* Known before its derivatives are made: these may call it again. */
static uint32_t find_case(calling *c, const mo_modifier *all, size_t outputs)
{
    mo_model *m = c->m;
    dae_arena *arena = &m->context->arena;
    mo_declared_case *k = c->f->declared;
    while (k && strcmp(k->key, c->key) != 0) k = k->next;
    if (k) return k->procedure;
    ex_procedure *p = dae_arena_take(arena, 1, sizeof *p);
    *p = (ex_procedure){
        .name = c->f->path, .inputs = c->rates, .outputs = (uint32_t)outputs, .declares = true
    };
    k = dae_arena_take(arena, 1, sizeof *k);
    *k = (mo_declared_case){ c->key, ex_add_procedure(m->graph, p), c->f->declared };
    c->f->declared = k;
    ex_declared **last = &p->declared;
    for (int i = 0; i < all->items; i++) {
        ex_declared *d =
            is_called(all->item[i], "derivative") ? declare(c, all->item[i], outputs) : NULL;
        if (!d) continue;
        *last = d;
        last = &d->next;
    }
    return k->procedure;
}

typedef struct marking {
    ex_id call;
    uint32_t next;
} marking;

static ex_id mark(mo_model *m, ex_id leaf, ex_type type, void *user)
{
    marking *k = user;
    if (type != EX_REAL) return leaf;
    return ex_build(
        m->graph,
        &(ex_node){ .op = EX_DECLARED, .type = EX_REAL, .a = leaf, .b = k->call, .c = k->next++ });
}

/* The results of a call of r->function, with what it declares about their derivatives. */
mo_value *mo_mark_declared(mo_run *r, mo_value *value, mo_place place)
{
    mo_model *m = r->model;
    const mo_modifier *all = annotation_of(r->function);
    for (const mo_run *c = r; c; c = c->caller)
        if (c->build) return value; /* procedures are derived as they are */
    if (!all || value->kind == MO_V_NONE) return value;
    calling c = { .m = m, .f = r->function, .place = place };
    hold_inputs(&c, r->scope.env);
    size_t outputs = reals_of(m, value).leaves;
    if (c.rates == 0 || c.rates > MOST_INPUTS || outputs == 0 || !moves(&c)) return value;
    uint32_t procedure = find_case(&c, all, outputs);
    marking k = { .call = ex_call(m->graph, procedure, c.argument.leaf, c.argument.leaves) };
    if (value->kind != MO_V_TUPLE) return mo_for_leaves(m, value, mark, &k);
    mo_value *copy = dae_arena_take(&m->context->arena, 1, sizeof *copy);
    *copy = *value;
    copy->item = dae_arena_take(&m->context->arena, value->count + 1, sizeof *copy->item);
    for (size_t i = 0; i < value->count; i++)
        copy->item[i] = mo_for_leaves(m, value->item[i], mark, &k);
    return copy;
}
