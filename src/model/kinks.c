/* kinks.c: what jumps inside a step, where no event is; and whether a jump matters.
 *
 * Equations that were differentiated may have kinks that no relation tells of: sqrt(z) with z = x^2,
 * sqrt(x^2 + y^2) where both pass 0 at once, asin(sin(x)), a function of the user's. At such a
 * point x^(d - 1) jumps, the impulse is infinitely short, and no error estimate sees it. But for every
 * derivative that follows from constraints
 *
 *     x^(k)(b) - x^(k)(a) = integral of x^(k+1) from a to b,
 *
 * with both sides computed from the equations. Where that does not hold for a step (the trapezoidal
 * rule, then Simpson's, with the equations solved again for states that are interpolated) it is asked for
 * both halves, and so on: what is smooth passes soon, a jump stays however short the interval is. (Where
 * an acceleration jumps what is missing is halved with the interval.) So does what changes within a
 * thousandth of the step, sqrt(x^2 + 1e-16): the integrator has not seen it. Only models are watched whose
 * differentiated equations contain what may have a kink (`rough`).
 *
 * Whether a jump matters: x^(k+1) is an impulse where x^(k) jumps, and all that is computed from it may
 * be. Where the derivative of a state is among that, the state jumps by nobody knows how much.
 */
#include "model/object.h"

#include "expression/walk.h"
#include "integrate/glance.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 40, LOOKS = 3000, SHORT = 10, APART = 6 };

static const double STAYS =
    0.125; /* of what is missing: at least so much after APART halvings */
static const double BESIDE = 1e-4; /* of a step */

/* ---------------------------------------------------------------- links ----------------- */

/* Before aliases are taken out. */
void model_keep_links(model *m)
{
    model_links *l = &m->links;
    if (m->flat->whole || m->flat->by_array)
        return;
    l->item = dae_arena_take(&m->arena, m->flat->links + 1, sizeof *l->item);
    for (size_t k = 0; k < m->flat->links; k++)
        l->item[l->count++] = (model_link){ .upper = m->flat->link[k].highest,
                                            .lower = m->flat->link[k].below };
}

void model_rename_links(model *m)
{
    for (size_t k = 0; k < m->links.count; k++) {
        model_substitute(m, &m->links.item[k].upper, 1);
        model_substitute(m, &m->links.item[k].lower, 1);
    }
}

static uint32_t slot_with_sign(const model *m, ex_id e, signed char *sign)
{
    const ex_node *n = ex_at(m->g, e);
    if (n->op == EX_NEGATE)
        *sign = (signed char)-*sign;
    uint32_t slot = leaf_slot(m->g, n->op == EX_NEGATE ? n->a : e);
    return slot == 0 ? NOWHERE : slot;
}

void model_build_links(model *m)
{
    model_links *l = &m->links;
    size_t kept = 0;
    unsigned char *state = dae_arena_take(&m->arena, m->slots, 1);
    for (size_t k = 0; k < m->p.states; k++)
        state[slot_of(m->p.variable[k], 0)] = 1;
    for (size_t k = 0; k < l->count; k++) {
        model_link x = { .sign = 1 };
        x.up = slot_with_sign(m, l->item[k].upper, &x.sign);
        x.low = slot_with_sign(m, l->item[k].lower, &x.sign);
        if (x.up == NOWHERE || x.low == NOWHERE)
            continue;
        x.follows = !state[x.low];
        l->item[kept++] = x;
    }
    l->count = kept;
    l->impulsive = dae_arena_take(&m->arena, m->slots, 1);
    size_t room = 2 * kept + 1;
    for (size_t k = 0; k < kept && m->flat->rough; k++)
        l->watched |= l->item[k].follows;
    if (!l->watched)
        return;
    l->room = dae_arena_take(&m->arena, (2 * LEVELS + 4) * room, sizeof *l->room);
    l->most = dae_arena_take(&m->arena, kept + 1, sizeof *l->most);
    l->left = dae_arena_take(&m->arena, m->slots, sizeof *l->left);
    l->right = dae_arena_take(&m->arena, m->slots, sizeof *l->right);
    l->x = dae_arena_take(&m->arena, (size_t)m->p.problem.size + 1, sizeof *l->x);
    l->xdot = dae_arena_take(&m->arena, (size_t)m->p.problem.size + 1, sizeof *l->xdot);
}

/* ---------------------------------------------------------------- does it matter -------- */

static bool reads_impulse(model *m, const ex_id *root, size_t roots)
{
    bool found = false;
    ex_walk *w = ex_walk_begin(m->g, root, roots);
    for (size_t i = 0; i < w->count && !found; i++) {
        uint32_t slot = leaf_slot(m->g, w->order[i]);
        found = slot != NOWHERE && m->links.impulsive[slot];
    }
    ex_walk_end(m->g, w);
    return found;
}

static bool mark(model *m, uint32_t slot)
{
    bool fresh = !m->links.impulsive[slot];
    m->links.impulsive[slot] = 1;
    return fresh;
}

static bool mark_loop(model *m, const model_step *s)
{
    bool found = false, more = false;
    for (uint32_t i = 0; i < s->torn && !found; i++)
        found =
            m->links.impulsive[s->torn_slot[i]] || reads_impulse(m, &s->residual[i], 1);
    for (uint32_t i = 0; i < s->assigned && !found; i++)
        found = m->links.impulsive[s->assigned_slot[i]] ||
                reads_impulse(m, &s->assigned_value[i], 1);
    for (uint32_t i = 0; i < s->torn && found; i++)
        more |= mark(m, s->torn_slot[i]);
    for (uint32_t i = 0; i < s->assigned && found; i++)
        more |= mark(m, s->assigned_slot[i]);
    return more;
}

/* What is constant between events is not read any more where things are computed: the equations as they were
 * kept for impulses contain its derivative. */
static bool spread_through_rows(model *m)
{
    const equation_list *l = &m->impulse.rows;
    bool more = false;
    for (size_t i = 0; i < l->count; i++) {
        const ex_id root[] = { l->item[i].left, l->item[i].right };
        bool constant = false;
        if (l->item[i].constraint || !reads_impulse(m, root, 2))
            continue;
        ex_walk *w = ex_walk_begin(m->g, root, 2);
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < w->count; k++) {
                uint32_t slot = leaf_slot(m->g, w->order[k]);
                if (slot == NOWHERE || slot == 0)
                    continue;
                const model_variable *x = &m->variable[slot_variable(slot)];
                bool highest = slot_is_derivative(slot) || x->derivatives == 0;
                if (pass == 0)
                    constant |= m->links.impulsive[slot] && x->alias_value != 0;
                else if (constant && highest && x->kind == UNKNOWN)
                    more |= mark(m, slot);
            }
        ex_walk_end(m->g, w);
    }
    return more;
}

/* One pass over what is computed from impulses; is there anything new? */
static bool spread_impulses(model *m)
{
    bool more = spread_through_rows(m);
    for (size_t k = 0; k < m->run.steps; k++) {
        const model_step *s = &m->run.step[k];
        if (s->torn > 0) {
            more |= mark_loop(m, s);
            continue;
        }
        for (uint32_t i = 0; i < s->assigned; i++)
            if (!m->links.impulsive[s->assigned_slot[i]] &&
                reads_impulse(m, &s->assigned_value[i], 1))
                more |= mark(m, s->assigned_slot[i]);
    }
    for (size_t k = 0; k < m->links.count; k++) {
        const model_link *x = &m->links.item[k];
        if (m->links.impulsive[x->low])
            more |= mark(m, x->up);
    }
    return more;
}

bool model_jump_matters(model *m, const double *before, double tolerance)
{
    model_links *l = &m->links;
    bool more = false;
    double time = m->value[0] - before[0];
    memset(l->impulsive, 0, m->slots);
    for (size_t k = 0; k < l->count; k++) {
        const model_link *x = &l->item[k];
        double rate = time > 0 ? x->sign * (before[x->up] + m->value[x->up]) / 2 : 0;
        double expected = before[x->low] + time * rate;
        if (x->follows && model_differs(m, x->low, expected, m->value[x->low], tolerance))
            more |= mark(m, x->up);
    }
    while (more)
        more = spread_impulses(m);
    for (size_t k = 0; k < m->p.states; k++)
        if (l->impulsive[slot_of(m->p.variable[k], 1)])
            return true;
    return false;
}

/* ---------------------------------------------------------------- inside a step --------- */

typedef struct point {
    double t;
    double *value; /* of every link: what is below, what is above               */
} point;

typedef struct search {
    model *m;
    double tolerance;
    double miss[LEVELS]; /* of the intervals around this one                          */
    int looks;
    double begin, end; /* of the step                                               */
    double from, to;   /* where something jumps                                     */
} search;

static void gather(const model *m, double *value)
{
    for (size_t k = 0; k < m->links.count; k++) {
        value[2 * k] = m->value[m->links.item[k].low];
        value[2 * k + 1] = m->links.item[k].sign * m->value[m->links.item[k].up];
    }
}

static bool solve_at(model *m, double t)
{
    bool stay = m->stay_near;
    dae_glance(m->solver, t, m->links.x, m->links.xdot);
    model_put_point(m, t, m->links.x, m->links.xdot);
    m->stay_near = true;
    bool found = model_run_plan(m, &m->run, "looking inside a step") == DAE_OK;
    m->stay_near = stay;
    if (!found)
        dae_report_clear(&m->report);
    return found;
}

static point look(search *s, double t, int level)
{
    model *m = s->m;
    point p = { t, m->links.room + (size_t)(level + 4) * (2 * m->links.count) };
    s->looks++;
    if (solve_at(m, t))
        gather(m, p.value);
    else
        for (size_t k = 0; k < 2 * m->links.count; k++)
            p.value[k] = NAN;
    return p;
}

/* By how many tolerances do differences and integrals disagree? middle: NULL for the trapezoidal rule. */
static double missing(const search *s, const point *a, const point *middle,
                      const point *b)
{
    const model_links *l = &s->m->links;
    double h = b->t - a->t, most = 0;
    for (size_t k = 0; k < l->count; k++) {
        if (!l->item[k].follows)
            continue;
        const double *p = &a->value[2 * k], *q = &b->value[2 * k];
        double mean =
            middle ? (p[1] + 4 * middle->value[2 * k + 1] + q[1]) / 6 : (p[1] + q[1]) / 2;
        double here = fabs(q[0] - p[0] - h * mean);
        if (!isfinite(here))
            return INFINITY;
        most = fmax(
            most, here / (s->tolerance * fmax(l->most[k], fmax(fabs(p[0]), fabs(q[0])))));
    }
    return most;
}

/* Between a and b something jumps: where, as nearly as can be told. */
static void narrow(search *s, point a, point b, int level)
{
    for (int i = 0; i < LEVELS && b.t - a.t > 1e-13 * fmax(fabs(a.t), fabs(b.t)); i++) {
        point middle = look(s, 0.5 * (a.t + b.t), level + i);
        if (missing(s, &a, NULL, &middle) > missing(s, &middle, NULL, &b))
            b = middle;
        else
            a = middle;
    }
    s->from = a.t;
    s->to = b.t;
}

static bool find_jump(search *s, const point *a, const point *b, int level)
{
    double miss = s->miss[level] = missing(s, a, NULL, b);
    if (!(miss > 1))
        return false;
    bool stays = level >= SHORT && !(miss < STAYS * s->miss[level - APART]);
    bool last =
        level == LEVELS - 1 || b->t - a->t <= 1e-14 * fmax(fabs(a->t), fabs(b->t));
    if (stays)
        narrow(s, *a, *b, level);
    if (stays || last)
        return stays;
    if (s->looks > LOOKS)
        return false;
    point middle = look(s, 0.5 * (a->t + b->t), level);
    if (!(missing(s, a, &middle, b) > 1))
        return false;
    return find_jump(s, a, &middle, level + 1) || find_jump(s, &middle, b, level + 1);
}

/* The values on both sides, far enough from there for rounding not to blur them; *which: the link that
 * jumps most; false: it cannot be told. */
static bool take_sides(search *s, size_t *which)
{
    model *m = s->m;
    model_links *l = &m->links;
    double most = 0, away = BESIDE * (s->end - s->begin);
    if (!solve_at(m, fmax(s->begin, s->from - away)))
        return false;
    memcpy(l->left, m->value, m->slots * sizeof *l->left);
    if (!solve_at(m, fmin(s->end, s->to + away)))
        return false;
    memcpy(l->right, m->value, m->slots * sizeof *l->right);
    for (size_t k = 0; k < l->count; k++) {
        uint32_t slot = l->item[k].low;
        double jump = fabs(l->right[slot] - l->left[slot]) / l->most[k];
        if (!l->item[k].follows || !(jump > most))
            continue;
        most = jump;
        *which = k;
    }
    return most > s->tolerance;
}

/* phi = atan2(y, x) starts again at -pi: a turn, and no impulse. */
static bool is_turn(double jump)
{
    return fabs(fabs(jump) - 2 * acos(-1)) < 1e-2; /* it has gone on a little */
}

static dae_status tell_jump(search *s, size_t which)
{
    model *m = s->m;
    model_links *l = &m->links;
    uint32_t slot = l->item[which].low;
    double a = l->left[slot], b = l->right[slot];
    memcpy(m->value, l->right, m->slots * sizeof *l->right);
    if (is_turn(b - a) || !model_jump_matters(m, l->left, s->tolerance)) {
        if (!l->told)
            model_warn(m,
                       "t = %.10g: '%s' jumps from %.6g to %.6g, and its derivative goes "
                       "on as if it "
                       "did not; no state follows from the impulse",
                       s->to, model_slot_name(m, slot), a, b);
        l->told = true;
        return DAE_OK;
    }
    dae_fail(&m->report, DAE_E_IMPASSE, "'%s' jumps where no event is",
             model_slot_name(m, slot));
    dae_at(&m->report, "t = %.10g, from %.6g to %.6g", s->to, a, b);
    dae_why(
        &m->report,
        "an equation that had to be differentiated has a kink there, or becomes 0/0, "
        "and no relation tells on which side it is: what the impulse does to the states "
        "is not known");
    dae_hint(&m->report,
             "results up to there are right; write the kink with abs, max, min or if, or "
             "smooth it");
    return DAE_E_IMPASSE;
}

/* The largest values so far; at least of a thousandth of the nominal value. */
static void note_sizes(model *m, const double *value)
{
    for (size_t k = 0; k < m->links.count; k++) {
        double nominal =
            fabs(m->variable[slot_variable(m->links.item[k].low)].nominal_value);
        double least = 1e-3 * (nominal > 0 ? nominal : 1);
        m->links.most[k] = fmax(fmax(m->links.most[k], least), fabs(value[2 * k]));
    }
}

dae_status model_check_kinks(model *m, double from, double to, bool first,
                             double tolerance)
{
    model_links *l = &m->links;
    size_t width = 2 * l->count, which = 0;
    if (!l->watched)
        return DAE_OK;
    point a = { from, l->room }, b = { to, l->room + width };
    gather(m, b.value);
    note_sizes(m, b.value);
    search s = { .m = m, .tolerance = tolerance, .begin = from, .end = to };
    bool found = !first && find_jump(&s, &a, &b, 0);
    memcpy(a.value, b.value, width * sizeof *a.value);
    if (!found || !take_sides(&s, &which))
        return DAE_OK;
    return tell_jump(&s, which);
}
