/* report.c: what an initialization did: which values were given and how they were used, and
 * the constraints that values have to satisfy, at the start values and at the end.
 *
 * In a constraint the derivative of a state stands for what an equation der(x) = ... says it is:
 * at the start values x*der(x) + y*der(y) means x*u + y*v.
 */
#include "model/array/model.h"
#include "model/start/initial.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- values ---------------- */

static dae_start_role role_of(const model *m, uint32_t v, bool given)
{
    double start = m->value[slot_of(v, 2)], value = m->value[slot_of(v, 0)];
    bool held = m->start_use[v] == START_HELD || m->start_use[v] == START_ASSUMED;
    if (held && fabs(value - start) > 1e-6 * fmax(1, fabs(start))) return DAE_START_NEAR;
    switch ((start_use)m->start_use[v]) {
    case START_FIXED: return DAE_START_FIXED;
    case START_HELD: return DAE_START_HELD;
    case START_ASSUMED: return DAE_START_DEFAULT;
    case START_NEAR: return DAE_START_NEAR;
    default: return given ? DAE_START_GUESS : DAE_START_COMPUTED;
    }
}

/* Real variables and free parameters, aliases only if they have a start value of their own. */
static bool is_shown(const model *m, uint32_t v)
{
    const model_variable *x = &m->variable[v];
    const flat_variable *f = &m->flat->variable[v];
    bool alias = x->alias_of != NOWHERE || x->alias_value;
    if (f->hidden || x->type != EX_REAL || x->string || (alias && !x->start)) return false;
    return x->kind == UNKNOWN || x->kind == FREE;
}

static void describe_values(model *m)
{
    m->initial_values = 0;
    m->initial_value = dae_arena_take(&m->arena, m->flat_variables + 1, sizeof *m->initial_value);
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        bool alias = x->alias_of != NOWHERE && !x->alias_value;
        uint32_t home = alias ? x->alias_of : v;
        bool given = x->start != 0;
        if (!is_shown(m, v)) continue;
        uint32_t from = m->variable[home].start_from;
        dae_start_role role = role_of(m, home, m->variable[from].start != 0);
        if (x->alias_value || from != v)
            role = x->fixed == 1 ? DAE_START_FIXED : given ? DAE_START_GUESS : DAE_START_COMPUTED;
        given |= role == DAE_START_DEFAULT || x->fixed == 1;
        m->initial_value[m->initial_values++] =
            (dae_initial_value){ .name = x->name,
                                 .role = role,
                                 .is_state = m->variable[home].differentiated,
                                 .start = given ? m->value[slot_of(v, 2)] : NAN,
                                 .value =
                                     (alias ? x->alias_sign : 1) * m->value[slot_of(home, 0)] };
    }
}

/* ---------------------------------------------------------------- constraints ----------- */

static bool has_derivatives(model *m, ex_id e)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(m->g, &e, 1);
    for (size_t k = 0; k < w->count && !found; k++) {
        uint32_t slot = leaf_slot(m->g, w->order[k]);
        found = slot != NOWHERE && slot_is_derivative(slot);
    }
    ex_walk_end(m->g, w);
    return found;
}

/* der(x) = ...: the derivative means the other side. */
static void set_meanings(model *m)
{
    model_clear_images(m);
    for (size_t i = 0; i < m->equations.count; i++) {
        const model_equation *e = &m->equations.item[i];
        const ex_id side[] = { e->left, e->right };
        for (int k = 0; k < 2 && e->derived == 0; k++) {
            uint32_t slot = leaf_slot(m->g, side[k]);
            if (slot == NOWHERE || !slot_is_derivative(slot) || m->image[slot]) continue;
            if (!has_derivatives(m, side[1 - k])) m->image[slot] = side[1 - k];
        }
    }
}

/* Those that were differentiated, and their derivatives; not the likes of der(x) = u, which say
 * what a derivative is. */
static size_t *list_constraints(model *m, size_t *count)
{
    const equation_list *l = &m->equations;
    size_t *list = dae_arena_take(&m->arena, l->count + 1, sizeof *list);
    bool says = false;
    *count = 0;
    for (size_t i = 0; i < l->count; i++) {
        const model_equation *e = &l->item[i];
        const ex_node *a = ex_at(m->g, e->text_left), *b = ex_at(m->g, e->text_right);
        if (e->derived == 0)
            says = (a->op == EX_VARIABLE && a->b == 1) || (b->op == EX_VARIABLE && b->b == 1);
        if (e->constraint && !says) list[(*count)++] = i;
    }
    return list;
}

static dae_status compile_constraints(model *m, const size_t *list, size_t count)
{
    ex_id *output = dae_arena_take(&m->arena, count + 1, sizeof *output);
    set_meanings(m);
    for (size_t i = 0; i < count; i++) {
        const model_equation *e = &m->equations.item[list[i]];
        output[i] = ex_binary(m->g, EX_SUBTRACT, e->left, e->right);
        model_substitute(m, &output[i], 1);
    }
    model_clear_images(m);
    return unit_open(m, &m->constraints, output, count);
}

void initial_name_constraint(model *m, const model_equation *e, int derivative)
{
    const char *place =
        e->place.source && m->flat->locate ? m->flat->locate(e->place, m->flat->context) : NULL;
    m->initial_constraint[m->initial_constraints++] = (dae_initial_constraint){
        .equation = dae_arena_print(&m->arena, "%s = %s",
                                    ex_print(m->g, e->text_left, flat_name, m->flat, 100),
                                    ex_print(m->g, e->text_right, flat_name, m->flat, 100)),
        .place = place ? dae_arena_copy(&m->arena, place, strlen(place)) : "",
        .derivative = derivative,
        .before = NAN,
        .after = NAN
    };
}

static void name_constraints(model *m, const size_t *list, size_t count)
{
    m->initial_constraints = 0;
    m->initial_constraint = dae_arena_take(&m->arena, count + 1, sizeof *m->initial_constraint);
    for (size_t i = 0; i < count; i++)
        initial_name_constraint(m, &m->equations.item[list[i]], m->equations.item[list[i]].derived);
}

/* All unknowns at their start values. */
static void put_starts(model *m)
{
    for (uint32_t v = 0; v < m->variables; v++) {
        if (!initial_is_unknown(&m->variable[v])) continue;
        m->value[slot_of(v, 0)] = m->value[slot_of(v, 2)];
        m->value[slot_of(v, 1)] = 0;
    }
}

static void measure_constraints(model *m)
{
    size_t n = m->initial_constraints;
    double *kept = dae_arena_take(&m->arena, m->slots, sizeof *kept);
    memcpy(kept, m->value, m->slots * sizeof *kept);
    if (unit_run(m, &m->constraints) == DAE_OK)
        for (size_t i = 0; i < n; i++) m->initial_constraint[i].after = m->constraints.out[i];
    put_starts(m);
    if (unit_run(m, &m->constraints) == DAE_OK)
        for (size_t i = 0; i < n; i++) m->initial_constraint[i].before = m->constraints.out[i];
    memcpy(m->value, kept, m->slots * sizeof *kept);
}

dae_status model_describe_initial(model *m)
{
    size_t count, *list = list_constraints(m, &count);
    describe_values(m);
    if (m->array) return model_describe_array(m);
    dae_status status = compile_constraints(m, list, count);
    if (status != DAE_OK) return status;
    name_constraints(m, list, count);
    measure_constraints(m);
    return DAE_OK;
}
