/* alias.c: variables that are other variables, with either sign, or parameter expressions.
 *
 * x = y, x = -y, 0 = x + y, x - y = 0, x = p: found as equations of that shape, merged by
 * union-find with signs, taken out. The representative of a group is differentiated if one of
 * them is, then the one whose stateSelect is highest, then the first. Where the equation says
 * nothing new (x = y twice) it stays and is judged as every equation without unknowns.
 *
 * Of the attributes of a group: the start that is fixed counts, else the representative's, else
 * the first given; the bounds are those that all allow; the nominal value the first given. Two
 * fixed starts that differ are an error that names both.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

void model_clear_images(model *m)
{
    if (m->image_count < m->slots) {
        m->image = dae_arena_take(&m->arena, m->slots, sizeof *m->image);
        m->image_count = m->slots;
    }
    memset(m->image, 0, m->slots * sizeof *m->image);
}

static ex_id image_of(ex_graph *g, ex_id leaf, void *user)
{
    model *m = user;
    uint32_t slot = leaf_slot(g, leaf);
    return slot != NOWHERE && m->image[slot] ? m->image[slot] : leaf;
}

void model_substitute(model *m, ex_id *root, size_t roots)
{
    ex_substitute(m->g, root, roots, image_of, m);
}

/* ---------------------------------------------------------------- groups ---------------- */

/* The representative of v; *sign: v = sign * it. Paths are shortened by halves. */
static uint32_t find(model *m, uint32_t v, int *sign)
{
    int s = 1;
    while (m->variable[v].alias_of != NOWHERE) {
        model_variable *x = &m->variable[v], *above = &m->variable[x->alias_of];
        if (above->alias_of != NOWHERE) {
            x->alias_sign = (signed char)(x->alias_sign * above->alias_sign);
            x->alias_of = above->alias_of;
        }
        s *= x->alias_sign;
        v = x->alias_of;
    }
    *sign = s;
    return v;
}

static bool represents_better(const model *m, uint32_t a, uint32_t b)
{
    const model_variable *x = &m->variable[a], *y = &m->variable[b];
    if (x->differentiated != y->differentiated) return x->differentiated;
    if (x->state_select != y->state_select) return x->state_select > y->state_select;
    return a < b;
}

/* a = sign * b; false: nothing new. */
static bool unite(model *m, uint32_t a, uint32_t b, int sign)
{
    int sa, sb;
    a = find(m, a, &sa);
    b = find(m, b, &sb);
    model_variable *x = &m->variable[a], *y = &m->variable[b];
    if (a == b || (x->alias_value && y->alias_value)) return false;
    if (represents_better(m, b, a)) {
        uint32_t other = a;
        a = b, b = other;
        x = &m->variable[a], y = &m->variable[b];
    }
    y->alias_of = a;
    y->alias_sign = (signed char)(sa * sb * sign);
    if (y->alias_value)
        x->alias_value =
            y->alias_sign > 0 ? y->alias_value : ex_unary(m->g, EX_NEGATE, y->alias_value);
    x->differentiated |= y->differentiated;
    m->alias_count++;
    return true;
}

static bool set_equal(model *m, uint32_t v, int sign, ex_id value)
{
    int s;
    v = find(m, v, &s);
    if (m->variable[v].alias_value) return false;
    value = model_hoist(m, value);
    m->variable[v].alias_value = s * sign > 0 ? value : ex_unary(m->g, EX_NEGATE, value);
    m->alias_count++;
    return true;
}

/* ---------------------------------------------------------------- shapes ---------------- */

/* Is e an unknown or its negative? */
static bool is_signed_unknown(model *m, ex_id e, uint32_t *v, int *sign)
{
    const ex_node *n = ex_at(m->g, e);
    *sign = 1;
    if (n->op == EX_NEGATE) {
        *sign = -1;
        n = ex_at(m->g, n->a);
    }
    *v = n->a;
    return n->op == EX_VARIABLE && n->b == 0 && m->variable[n->a].kind == UNKNOWN;
}

static bool same_type(model *m, uint32_t a, uint32_t b, int sign)
{
    ex_type x = m->variable[a].type;
    return x == m->variable[b].type && (sign > 0 || x == EX_REAL || x == EX_INTEGER);
}

static bool take_sum(model *m, ex_id e)
{
    uint32_t a, b;
    int sa, sb;
    const ex_node n = *ex_at(m->g, e);
    if (n.op != EX_ADD && n.op != EX_SUBTRACT) return false;
    if (!is_signed_unknown(m, n.a, &a, &sa) || !is_signed_unknown(m, n.b, &b, &sb)) return false;
    int sign = sa * sb * (n.op == EX_ADD ? -1 : 1);
    return same_type(m, a, b, sign) && unite(m, a, b, sign);
}

static bool take_alias(model *m, const model_equation *e)
{
    uint32_t a, b;
    int sa, sb;
    double zero;
    bool left = is_signed_unknown(m, e->left, &a, &sa);
    bool right = is_signed_unknown(m, e->right, &b, &sb);
    if (left && right) return same_type(m, a, b, sa * sb) && unite(m, a, b, sa * sb);
    if (left && model_level(m, e->right) <= LEVEL_PARAMETER) return set_equal(m, a, sa, e->right);
    if (right && model_level(m, e->left) <= LEVEL_PARAMETER) return set_equal(m, b, sb, e->left);
    if (ex_is_number(m->g, e->left, &zero) && zero == 0) return take_sum(m, e->right);
    if (ex_is_number(m->g, e->right, &zero) && zero == 0) return take_sum(m, e->left);
    return false;
}

/* x = y or x = -y, as it stands. */
static bool has_shape(model *m, const model_equation *e)
{
    uint32_t v;
    int sign;
    double zero;
    bool left = is_signed_unknown(m, e->left, &v, &sign);
    bool right = is_signed_unknown(m, e->right, &v, &sign);
    bool zero_left = ex_is_number(m->g, e->left, &zero) && zero == 0;
    bool zero_right = ex_is_number(m->g, e->right, &zero) && zero == 0;
    const ex_node *n = ex_at(m->g, zero_left ? e->right : e->left);
    bool sum = (zero_left || zero_right) && (n->op == EX_ADD || n->op == EX_SUBTRACT) &&
               is_signed_unknown(m, n->a, &v, &sign) && is_signed_unknown(m, n->b, &v, &sign);
    return (left && right) || sum;
}

/* a2 = a1 of x2 = x1 + max(0, t): between events the same, but at the event they are impulses of
 * different sizes, and v2 = v1 + ... says by how much. Only where that is an alias as well this
 * one is. */
static bool *find_barred(model *m)
{
    const equation_list *l = &m->equations;
    if (m->impulse.jumps == 0) return NULL;
    bool *barred = dae_arena_take(&m->arena, l->count + 1, sizeof *barred);
    size_t before = NOWHERE;
    for (size_t i = 0; i < l->count; i++) {
        barred[i] = l->item[i].aside;
        if (!l->item[i].constraint) continue;
        bool follows = before != NOWHERE && l->item[i].derived == l->item[before].derived + 1;
        barred[i] = follows && has_shape(m, &l->item[i]) && !has_shape(m, &l->item[before]);
        before = i;
    }
    return barred;
}

/* ---------------------------------------------------------------- the pass -------------- */

/* Whose derivatives occur. (Asked twice: simplifying may have removed some.) */
void model_find_differentiated(model *m, const equation_list *list)
{
    size_t n = 0;
    ex_id *root = dae_arena_take(&m->arena, 2 * list->count + 1, sizeof *root);
    for (uint32_t v = 0; v < m->variables; v++) m->variable[v].differentiated = false;
    for (size_t i = 0; i < list->count; i++) {
        root[n++] = list->item[i].left;
        root[n++] = list->item[i].right;
    }
    ex_walk *w = ex_walk_begin(m->g, root, n);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *x = ex_at(m->g, w->order[i]);
        if (x->op == EX_VARIABLE && x->b == 1) m->variable[x->a].differentiated = true;
    }
    ex_walk_end(m->g, w);
}

static void set_images(model *m)
{
    model_clear_images(m);
    for (uint32_t v = 0; v < m->variables; v++) {
        int sign;
        model_variable *x = &m->variable[v];
        uint32_t r = find(m, v, &sign);
        ex_id value = m->variable[r].alias_value, rate = ex_number(m->g, 0);
        if (r == v && !value) continue;
        if (r != v && value) x->alias_value = sign > 0 ? value : ex_unary(m->g, EX_NEGATE, value);
        if (!value) {
            value = ex_variable(m->g, r, 0, x->type);
            rate = ex_variable(m->g, r, 1, EX_REAL);
        }
        if (sign < 0) {
            value = ex_unary(m->g, EX_NEGATE, value);
            rate = ex_unary(m->g, EX_NEGATE, rate);
        }
        m->image[slot_of(v, 0)] = value;
        m->image[slot_of(v, 1)] = rate;
        if (x->alias_of != NOWHERE) {
            x->alias_of = r;
            x->alias_sign = (signed char)sign;
        }
    }
}

static void substitute_everywhere(model *m)
{
    equation_list *list[] = { &m->equations, &m->initial };
    for (int l = 0; l < 2; l++)
        for (size_t i = 0; i < list[l]->count; i++)
            model_substitute(m, &list[l]->item[i].left, 1),
                model_substitute(m, &list[l]->item[i].right, 1);
    for (size_t i = 0; i < m->modes; i++) model_substitute(m, &m->mode[i].z, 1);
    for (size_t i = 0; i < m->delays; i++) {
        model_substitute(m, &m->delay[i].value, 1);
        model_substitute(m, &m->delay[i].time, 1);
    }
    for (size_t i = 0; i < m->assertions; i++) {
        model_substitute(m, &m->assertion[i].condition, 1);
        if (m->assertion[i].message) model_substitute(m, &m->assertion[i].message, 1);
    }
    for (size_t i = 0; i < m->flat->watches; i++) model_substitute(m, &m->watch[i], 1);
    model_substitute(m, m->invariant, m->flat->invariants);
    model_rename_impulses(m);
}

/* A start value set further out is meant for this model rather than for any: it is to be trusted
 * more (the language, 8.6.2). One that is given by parameters is as good as the best of these. */
static unsigned char find_confidence(model *m, uint32_t v)
{
    double number;
    ex_id start = m->flat->variable[v].start;
    if (!start) return FLAT_OF_TYPE;
    unsigned char own = m->flat->variable[v].set_at, best = FLAT_OF_TYPE;
    if (ex_is_number(m->g, start, &number)) return own;
    ex_walk *w = ex_walk_begin(m->g, &start, 1);
    for (size_t k = 0; k < w->count; k++) {
        const ex_node *n = ex_at(m->g, w->order[k]);
        if (n->op != EX_VARIABLE || n->a >= m->flat_variables) continue;
        const flat_variable *p = &m->flat->variable[n->a];
        if (p->variability == FLAT_PARAMETER && p->set_at < best) best = p->set_at;
    }
    ex_walk_end(m->g, w);
    return best < FLAT_OF_TYPE ? best : own;
}

/* Which alias's start counts for its group. */
static void choose_starts(model *m)
{
    for (uint32_t v = 0; v < m->variables; v++) m->variable[v].start_from = v;
    for (uint32_t v = 0; v < m->flat_variables; v++)
        m->variable[v].confidence = find_confidence(m, v);
    for (uint32_t v = 0; v < m->variables; v++) {
        model_variable *x = &m->variable[v];
        if (x->alias_of == NOWHERE) continue;
        model_variable *r = &m->variable[x->alias_of];
        const model_variable *now = &m->variable[r->start_from];
        bool better =
            (x->fixed == 1 && now->fixed != 1) ||
            (x->start && now->fixed != 1 && (!now->start || x->confidence < now->confidence));
        if (better) r->start_from = v;
        if (x->state_select > r->state_select) r->state_select = x->state_select;
        if (x->derivatives > r->derivatives) r->derivatives = x->derivatives;
    }
}

dae_status model_find_aliases(model *m)
{
    size_t kept = 0;
    model_keep_impulses(m);
    model_find_differentiated(m, &m->equations);
    const bool *barred = find_barred(m);
    for (size_t i = 0; i < m->equations.count; i++) {
        bool apart = m->flat->distinct && model_is_real(m, &m->equations.item[i]);
        if (apart || (barred && barred[i]) || !take_alias(m, &m->equations.item[i]))
            m->equations.item[kept++] = m->equations.item[i];
    }
    m->equations.count = kept;
    set_images(m);
    substitute_everywhere(m);
    model_clear_images(m);
    choose_starts(m);
    return DAE_OK;
}

/* ---------------------------------------------------------------- attributes ------------ */

static int sign_of(const model *m, uint32_t v)
{
    return m->variable[v].alias_of == NOWHERE ? 1 : m->variable[v].alias_sign;
}

/* A variable that is a parameter expression which has no value, as x = 1/0. */
static dae_status check_constants(model *m)
{
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        double value = m->value[slot_of(v, 0)];
        char where[LOCATED];
        ex_id e = m->variable[v].alias_value;
        if (!e || isfinite(value)) continue;
        if (ex_at(m->g, e)->op == EX_NEGATE) e = ex_at(m->g, e)->a;
        uint32_t slot = leaf_slot(m->g, e);
        if (slot != NOWHERE && m->variable[slot_variable(slot)].binding)
            e = m->variable[slot_variable(slot)].binding;
        model_locate(m, m->flat->variable[v].place, where, sizeof where);
        dae_fail(&m->report, DAE_E_NONFINITE, "'%s' is %s", m->variable[v].name,
                 isnan(value) ? "not a number" : "infinite");
        dae_at(&m->report, "its declaration%s", where);
        dae_why(&m->report, "it is given by %s", ex_print(m->g, e, flat_name, m->flat, 120));
        return DAE_E_NONFINITE;
    }
    return DAE_OK;
}

/* Two conditions that contradict each other, for model_conflict. */
static void note_conflict(model *m, const char *one, const char *other)
{
    m->conflict = dae_arena_take(&m->arena, 2, sizeof *m->conflict);
    m->conflict[0] = one;
    m->conflict[1] = other;
    m->conflicts = 2;
}

static const char *fixed_words(model *m, uint32_t v)
{
    char where[LOCATED];
    model_locate(m, m->flat->variable[v].place, where, sizeof where);
    return dae_arena_print(&m->arena, "fixed start value '%s = %.10g'%s", m->variable[v].name,
                           m->value[slot_of(v, 2)], where);
}

/* x(start = 1, fixed = true) = 2 */
static dae_status check_fixed_constants(model *m)
{
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        double value = m->value[slot_of(v, 0)], start = m->value[slot_of(v, 2)];
        if (x->fixed != 1 || !x->alias_value || x->type != EX_REAL || x->kind != UNKNOWN) continue;
        if (fabs(value - start) <= 1e-6 * fmax(1, fmax(fabs(value), fabs(start)))) continue;
        const char *words = fixed_words(m, v);
        dae_fail(&m->report, DAE_E_INCONSISTENT,
                 "there are too many initial conditions, and they contradict each other");
        dae_at(&m->report, "%s", words);
        dae_why(&m->report, "the equations say %s = %.10g", x->name, value);
        dae_hint(&m->report, "do not fix it");
        note_conflict(m, words,
                      dae_arena_print(&m->arena, "equations '%s = %.10g'", x->name, value));
        return DAE_E_INCONSISTENT;
    }
    return DAE_OK;
}

dae_status model_check_fixed(model *m)
{
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->alias_of == NOWHERE || x->fixed != 1) continue;
        uint32_t w = m->variable[x->alias_of].start_from;
        double mine = x->alias_sign * m->value[slot_of(v, 2)];
        double other = m->value[slot_of(x->alias_of, 2)];
        if (fabs(mine - other) <= 1e-12 * (fabs(mine) + fabs(other))) continue;
        dae_fail(&m->report, DAE_E_INCONSISTENT,
                 "two fixed start values contradict each other: '%s' and '%s' are the same%s",
                 m->variable[w].name, x->name,
                 sign_of(m, v) * sign_of(m, w) < 0 ? " but for the sign" : "");
        note_conflict(m, fixed_words(m, w), fixed_words(m, v));
        dae_at(&m->report, "%s\n      %s", m->conflict[0], m->conflict[1]);
        dae_hint(&m->report, "fix only one of them");
        return DAE_E_INCONSISTENT;
    }
    dae_status status = check_constants(m);
    return status == DAE_OK ? check_fixed_constants(m) : status;
}

/* Variables that are parameter expressions have their values from now on. */
static void set_constant(model *m, uint32_t v)
{
    const ex_node *n = ex_at(m->g, m->variable[v].alias_value);
    double *to = &m->value[slot_of(v, 0)];
    bool negative = n->op == EX_NEGATE;
    ex_id e = negative ? n->a : m->variable[v].alias_value;
    uint32_t slot = leaf_slot(m->g, e);
    if (slot != NOWHERE)
        *to = m->value[slot];
    else
        ex_is_number(m->g, e, to);
    if (negative) *to = -*to;
}

void model_merge_attributes(model *m)
{
    for (uint32_t v = 0; v < m->variables; v++)
        if (m->variable[v].alias_value) set_constant(m, v);
    for (uint32_t v = 0; v < m->flat_variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->alias_of == NOWHERE) continue;
        model_variable *r = &m->variable[x->alias_of];
        double low = x->alias_sign > 0 ? x->min_value : -x->max_value;
        double high = x->alias_sign > 0 ? x->max_value : -x->min_value;
        if (low > r->min_value) r->min_value = low;
        if (high < r->max_value) r->max_value = high;
        if (r->nominal_value == 0) r->nominal_value = x->nominal_value;
        if (r->start_from == v)
            m->value[slot_of(x->alias_of, 2)] = x->alias_sign * m->value[slot_of(v, 2)];
    }
}
