/* kinks.c: what jumps inside a step, where no event is; and whether a jump matters.
 *
 * Equations that were differentiated may have kinks that no relation tells of: sqrt(z) with
 * z = x^2, sqrt(x^2 + y^2) where both pass 0 at once, asin(sin(x)), a function of the user's. At
 * such a point x^(d - 1) jumps, the impulse is infinitely short, and no error estimate sees it. But
 * for every derivative that follows from constraints
 *
 *     x^(k)(b) - x^(k)(a) = integral of x^(k+1) from a to b,
 *
 * with both sides computed from the equations. Where that does not hold for a step (the trapezoidal
 * rule, then Lobatto's, with the equations solved again for states that are interpolated) it is
 * asked for both halves, and so on: what is smooth passes soon, a jump stays however short the
 * interval is. (Where an acceleration jumps what is missing is halved with the interval.) So does
 * what changes within a small part of the step, sqrt(x^2 + 1e-8): the integrator has not seen it.
 * Such a step is taken again in shorter ones, the shorter the nearer they come to that place.
 * What is smooth is resolved then, however narrow; a jump is still there where steps are as short
 * as they may be (`least`), and ends the run. There a jump is told from rounding (a quotient near
 * 0/0) by its size: it is the same from several distances. Only models are watched whose
 * differentiated equations contain what may have a kink (`rough`).
 *
 * Whether a jump matters: x^(k+1) is an impulse where x^(k) jumps, and all that is computed from
 * it may be. Where the derivative of a state is among that, the state jumps by nobody knows how
 * much.
 */
#include "model/object.h"

#include "expression/walk.h"
#include "integrate/glance.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 40, LOOKS = 3000, APART = 6, SCALES = 12, TRIES = 20 };

static const double STAYS = 0.125;  /* of what is missing: at least so much after APART halvings */
static const double ALIKE = 0.2;    /* jumps seen from several distances differ by less */
static const double SIMPSON = 30;   /* so many tolerances too much by the trapezoidal rule */
static const double AT_ONCE = 1e-3; /* of the shortest steps that are asked for */
static const double MUCH = 1e-3;    /* of the largest value: more than rounding does */
static const double NUDGE = 1e-8;   /* of a guess: what a loop leads to does not depend on it */

/* ---------------------------------------------------------------- links ----------------- */

/* Before aliases are taken out. */
void model_keep_links(model *m)
{
    model_links *l = &m->links;
    if (m->flat->whole || m->flat->by_array) return;
    l->item = dae_arena_take(&m->arena, m->flat->links + 1, sizeof *l->item);
    for (size_t k = 0; k < m->flat->links; k++)
        l->item[l->count++] =
            (model_link){ .upper = m->flat->link[k].highest, .lower = m->flat->link[k].below };
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
    if (n->op == EX_NEGATE) *sign = (signed char)-*sign;
    uint32_t slot = leaf_slot(m->g, n->op == EX_NEGATE ? n->a : e);
    return slot == 0 ? NOWHERE : slot;
}

/* Stand-ins may have come since the links were built. */
static void make_room(model *m)
{
    model_links *l = &m->links;
    if (l->slots == m->slots) return;
    l->impulsive = dae_arena_take(&m->arena, m->slots, 1);
    l->left = dae_arena_take(&m->arena, m->slots, sizeof *l->left);
    l->right = dae_arena_take(&m->arena, m->slots, sizeof *l->right);
    l->slots = m->slots;
}

void model_build_links(model *m)
{
    model_links *l = &m->links;
    size_t kept = 0;
    unsigned char *state = dae_arena_take(&m->arena, m->slots, 1);
    for (size_t k = 0; k < m->p.states; k++) state[slot_of(m->p.variable[k], 0)] = 1;
    for (size_t k = 0; k < l->count; k++) {
        model_link x = { .sign = 1 };
        x.up = slot_with_sign(m, l->item[k].upper, &x.sign);
        x.low = slot_with_sign(m, l->item[k].lower, &x.sign);
        if (x.up == NOWHERE || x.low == NOWHERE) continue;
        x.follows = !state[x.low];
        l->item[kept++] = x;
    }
    l->count = kept;
    size_t room = 2 * kept + 1;
    for (size_t k = 0; k < kept && m->flat->rough; k++) l->watched |= l->item[k].follows;
    if (!l->watched) return;
    l->room = dae_arena_take(&m->arena, (2 * LEVELS + 4) * room, sizeof *l->room);
    l->most = dae_arena_take(&m->arena, kept + 1, sizeof *l->most);
    l->x = dae_arena_take(&m->arena, model_most_unknowns(m) + 1, sizeof *l->x);
    l->xdot = dae_arena_take(&m->arena, model_most_unknowns(m) + 1, sizeof *l->xdot);
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
        found = m->links.impulsive[s->torn_slot[i]] || reads_impulse(m, &s->residual[i], 1);
    for (uint32_t i = 0; i < s->assigned && !found; i++)
        found =
            m->links.impulsive[s->assigned_slot[i]] || reads_impulse(m, &s->assigned_value[i], 1);
    for (uint32_t i = 0; i < s->torn && found; i++) more |= mark(m, s->torn_slot[i]);
    for (uint32_t i = 0; i < s->assigned && found; i++) more |= mark(m, s->assigned_slot[i]);
    return more;
}

/* What is constant between events is not read any more where things are computed: the equations
 * as they were kept for impulses contain its derivative. */
static bool spread_through_rows(model *m)
{
    const equation_list *l = &m->impulse.rows;
    bool more = false;
    for (size_t i = 0; i < l->count; i++) {
        const ex_id root[] = { l->item[i].left, l->item[i].right };
        bool constant = false;
        if (l->item[i].constraint || !reads_impulse(m, root, 2)) continue;
        ex_walk *w = ex_walk_begin(m->g, root, 2);
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < w->count; k++) {
                uint32_t slot = leaf_slot(m->g, w->order[k]);
                if (slot == NOWHERE || slot == 0) continue;
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
        if (m->links.impulsive[x->low]) more |= mark(m, x->up);
    }
    return more;
}

bool model_jump_matters(model *m, const double *before, double tolerance)
{
    model_links *l = &m->links;
    bool more = false;
    double time = m->value[0] - before[0];
    make_room(m);
    memset(l->impulsive, 0, m->slots);
    for (size_t k = 0; k < l->count; k++) {
        const model_link *x = &l->item[k];
        double rate = time > 0 ? x->sign * (before[x->up] + m->value[x->up]) / 2 : 0;
        double expected = before[x->low] + time * rate;
        if (x->follows && model_differs(m, x->low, expected, m->value[x->low], tolerance))
            more |= mark(m, x->up);
    }
    while (more) more = spread_impulses(m);
    for (size_t k = 0; k < m->p.states; k++)
        if (l->impulsive[slot_of(m->p.variable[k], 1)]) return true;
    return false;
}

/* ---------------------------------------------------------------- inside a step --------- */

typedef struct point {
    double t;
    double *value; /* of every link: what is below, what is above */
} point;

typedef struct search {
    model *m;
    double tolerance;
    double miss[LEVELS]; /* of the intervals around this one */
    int looks;
    bool unfinished;   /* there were too many looks */
    double begin, end; /* of the step */
    double from, to;   /* where something jumps */
    double jump;       /* by how much */
} search;

static void gather(const model *m, double *value)
{
    for (size_t k = 0; k < m->links.count; k++) {
        value[2 * k] = m->value[m->links.item[k].low];
        value[2 * k + 1] = m->links.item[k].sign * m->value[m->links.item[k].up];
    }
}

/* With guesses that are wrong by a part. */
static bool solve_nudged(model *m, double t, double part)
{
    const model_links *l = &m->links;
    bool stay = m->stay_near;
    dae_glance(m->solver, t, l->x, l->xdot);
    model_put_point(m, t, l->x, l->xdot);
    for (size_t i = 0; i < l->count && part != 0; i++)
        if (l->item[i].follows) m->value[l->item[i].low] *= 1 + part;
    m->stay_near = true;
    bool found = model_run_plan(m, &m->run, "looking inside a step") == DAE_OK;
    m->stay_near = stay;
    if (!found) dae_report_clear(&m->report);
    return found;
}

static bool solve_at(model *m, double t)
{
    return solve_nudged(m, t, 0);
}

static point look(search *s, double t, int level)
{
    model *m = s->m;
    point p = { t, m->links.room + (size_t)(level + 4) * (2 * m->links.count) };
    s->looks++;
    if (solve_at(m, t))
        gather(m, p.value);
    else
        for (size_t k = 0; k < 2 * m->links.count; k++) p.value[k] = NAN;
    return p;
}

/* By how many tolerances do differences and integrals disagree? Lobatto's rules: trapezoidal,
 * Simpson's, and that with two points inside. */
static double missing_by(const search *s, const point *a, const point *inside, int points,
                         const point *b)
{
    static const double end[] = { 1.0 / 2, 1.0 / 6, 1.0 / 12 };
    const model_links *l = &s->m->links;
    double h = b->t - a->t, each = points > 0 ? (1 - 2 * end[points]) / points : 0, most = 0;
    for (size_t k = 0; k < l->count; k++) {
        if (!l->item[k].follows) continue;
        const double *p = &a->value[2 * k], *q = &b->value[2 * k];
        double mean = end[points] * (p[1] + q[1]);
        for (int i = 0; i < points; i++) mean += each * inside[i].value[2 * k + 1];
        double here = fabs(q[0] - p[0] - h * mean);
        if (!isfinite(here)) return INFINITY;
        double size = fmax(l->most[k], fmax(fabs(p[0]), fabs(q[0])));
        most = fmax(most, here / (s->tolerance * size));
    }
    return most;
}

static double missing(const search *s, const point *a, const point *b)
{
    return missing_by(s, a, NULL, 0, b);
}

/* Long steps of high order: what is much for Simpson's rule is little for the next one. */
static bool is_smooth(search *s, const point *a, const point *b)
{
    double miss = missing(s, a, b), h = b->t - a->t;
    if (!(miss > SIMPSON)) return !(miss > 1);
    const point inside[] = { look(s, a->t + h * (0.5 - sqrt(0.05)), 0),
                             look(s, a->t + h * (0.5 + sqrt(0.05)), 1) };
    return !(missing_by(s, a, inside, 2, b) > 1);
}

/* Between a and b something jumps: where, as nearly as can be told. */
static void narrow(search *s, point a, point b, int level)
{
    for (int i = 0; i < LEVELS && b.t - a.t > 1e-13 * fmax(fabs(a.t), fabs(b.t)); i++) {
        point middle = look(s, 0.5 * (a.t + b.t), level + i);
        if (missing(s, &a, &middle) > missing(s, &middle, &b))
            b = middle;
        else
            a = middle;
    }
    s->from = a.t;
    s->to = b.t;
}

/* The half where more is missing comes first: a jump takes as many looks as there are levels. */
static bool find_jump(search *s, const point *a, const point *b, int level)
{
    double miss = s->miss[level] = missing(s, a, b);
    if (!(miss > 1)) return false;
    bool stays = level >= APART && !(miss < STAYS * s->miss[level - APART]);
    bool last = level == LEVELS - 1 || b->t - a->t <= 1e-14 * fmax(fabs(a->t), fabs(b->t));
    s->unfinished |= s->looks > LOOKS;
    if (stays || s->unfinished) narrow(s, *a, *b, level);
    if (stays || last || s->unfinished) return stays || s->unfinished;
    point middle = look(s, 0.5 * (a->t + b->t), level);
    if (!(missing_by(s, a, &middle, 1, b) > 1)) return false;
    bool left = missing(s, a, &middle) >= missing(s, &middle, b);
    return find_jump(s, left ? a : &middle, left ? &middle : b, level + 1) ||
           find_jump(s, left ? &middle : a, left ? b : &middle, level + 1);
}

/* ---------------------------------------------------------------- by how much ----------- */

/* What the values of one side lead to at t, from the distances d and 2 d (not beyond `end`); after
 * them: how far that is from the farther ones. */
static bool continue_side(search *s, double t, double d, double end, double *limit)
{
    model *m = s->m;
    size_t width = 2 * m->links.count;
    double near = d < 0 ? fmax(end, t + d) : fmin(end, t + d);
    double far = d < 0 ? fmax(end, t + 2 * d) : fmin(end, t + 2 * d);
    double part = far != near ? (near - t) / (far - near) : 0, *other = limit + width;
    if (!solve_at(m, far) || !solve_at(m, far)) /* twice: as well as a loop can be solved */
        return false;
    gather(m, other);
    if (!solve_at(m, near) || !solve_at(m, near)) return false;
    gather(m, limit);
    for (size_t k = 0; k < width; k++) {
        limit[k] -= part * (other[k] - limit[k]);
        other[k] = fabs(limit[k] - other[k]);
    }
    return true;
}

/* The jump of every link, seen from the distance d, NaN where either side is not smooth; the slots
 * on both sides. */
static bool see_jumps(search *s, double d, double *jump)
{
    model *m = s->m;
    model_links *l = &m->links;
    size_t width = 2 * l->count;
    double *left = l->room + 6 * width, *right = left + 2 * width;
    make_room(m);
    if (!continue_side(s, s->from, -d, s->begin, left)) return false;
    memcpy(l->left, m->value, m->slots * sizeof *l->left);
    if (!continue_side(s, s->to, d, s->end, right)) return false;
    memcpy(l->right, m->value, m->slots * sizeof *l->right);
    for (size_t k = 0; k < l->count; k++) {
        jump[k] = right[2 * k] - left[2 * k];
        if (!(fmax(left[width + 2 * k], right[width + 2 * k]) < ALIKE * fabs(jump[k])))
            jump[k] = NAN;
    }
    return true;
}

/* Of the jumps that are the same from three distances: the link with the largest one. */
static size_t largest_jump(search *s, const double *now, const double *before, const double *first)
{
    const model_links *l = &s->m->links;
    size_t which = NOWHERE;
    double most = s->tolerance;
    for (size_t k = 0; k < l->count; k++) {
        double size = fabs(now[k]) / l->most[k], alike = ALIKE * fabs(now[k]);
        if (!l->item[k].follows || !(size > most) || !(fabs(now[k] - before[k]) < alike) ||
            !(fabs(now[k] - first[k]) < alike))
            continue;
        most = size;
        which = k;
        s->jump = now[k];
    }
    return which;
}

/* Where equations hardly determine an unknown, atan2(y, x) = c near x = 0, what is found depends on
 * the guess and on the last digit of everything, and steps are as rounding has them: no jump. */
static bool is_firm(search *s, size_t which)
{
    model *m = s->m;
    const model_links *l = &m->links;
    uint32_t slot = l->item[which].low;
    for (int k = 0; k < 2 * TRIES; k++) {
        const double *side = k % 2 ? l->left : l->right;
        double part = (k / 2 + 1.0) / TRIES, t = side[0] + part * (side[0] - s->to);
        memcpy(m->value, side, m->slots * sizeof *side);
        t = fmax(s->begin, fmin(s->end, t));
        if (!solve_nudged(m, t, (2 * part - 1) * NUDGE) ||
            !(fabs(m->value[slot] - side[slot]) < ALIKE * fabs(s->jump)))
            return false;
    }
    return true;
}

/* The link that jumps most; the smallest distances decide. NOWHERE: there is none, only rounding or
 * what changes as the step does. */
static size_t take_sides(search *s)
{
    model_links *l = &s->m->links;
    double h = s->end - s->begin, finest = 1e-13 * fmax(fabs(s->begin), fabs(s->end));
    double *now = l->room + 4 * l->count, *before = now + l->count, *first = before + l->count;
    int seen = 0;
    for (double d = h * pow(4, -SCALES); d < h; d *= 4) {
        if (d < finest) continue;
        seen = see_jumps(s, d, now) ? seen + 1 : 0;
        size_t which = seen > 2 ? largest_jump(s, now, before, first) : NOWHERE;
        if (which != NOWHERE) return is_firm(s, which) ? which : NOWHERE;
        memcpy(first, before, l->count * sizeof *before);
        memcpy(before, now, l->count * sizeof *before);
    }
    return NOWHERE;
}

/* phi = atan2(y, x) starts again at -pi: a turn, and no impulse. */
static bool is_turn(const search *s, size_t which)
{
    const model_links *l = &s->m->links;
    double turn = 2 * acos(-1);
    return s->m->flat->angles &&
           fabs(fabs(s->jump) - turn) < fmax(s->tolerance, 1e-4) * fmax(turn, l->most[which]);
}

static dae_status tell_jump(search *s, size_t which, double a, double b)
{
    model *m = s->m;
    uint32_t slot = m->links.item[which].low;
    dae_fail(&m->report, DAE_E_IMPASSE, "'%s' jumps where no event is", model_slot_name(m, slot));
    dae_at(&m->report, "t = %.10g, from %.6g to %.6g", s->to, a, b);
    dae_why(&m->report,
            "an equation that had to be differentiated has a kink there, or becomes 0/0, "
            "and no relation tells on which side it is: what the impulse does to the states "
            "is not known");
    dae_hint(&m->report, "results up to there are right; write the kink with abs, max, min or if, "
                         "or smooth it");
    return DAE_E_IMPASSE;
}

static void warn_of_jump(search *s, size_t which)
{
    model_links *l = &s->m->links;
    uint32_t slot = l->item[which].low;
    if (!l->told)
        model_warn(s->m,
                   "t = %.10g: '%s' jumps from %.6g to %.6g, and its derivative goes on as if it "
                   "did not; no state follows from the impulse",
                   s->to, model_slot_name(s->m, slot), l->left[slot], l->right[slot]);
    l->told = true;
}

static void warn_of_haste(search *s)
{
    model_links *l = &s->m->links;
    if (!l->unfinished)
        model_warn(s->m,
                   "t = %.10g: what follows from differentiated equations changes so often "
                   "within a step that jumps may be among it; they were not looked for any more",
                   s->to);
    l->unfinished = true;
}

/* ---------------------------------------------------------------- a step ---------------- */

/* The largest values so far; at least of a thousandth of the nominal value. */
static void note_sizes(model *m, const double *value)
{
    for (size_t k = 0; k < m->links.count; k++) {
        double nominal = fabs(m->variable[slot_variable(m->links.item[k].low)].nominal_value);
        double least = 1e-3 * (nominal > 0 ? nominal : 1);
        m->links.most[k] = fmax(fmax(m->links.most[k], least), fabs(value[2 * k]));
    }
}

static dae_status judge(search *s, double least)
{
    model *m = s->m;
    size_t which = take_sides(s);
    bool shorter = s->end - s->begin > least;
    if (which == NOWHERE && s->unfinished && !shorter) warn_of_haste(s);
    if (which != NOWHERE) {
        memcpy(m->value, m->links.right, m->slots * sizeof *m->value);
        if (is_turn(s, which) || !model_jump_matters(m, m->links.left, s->tolerance)) {
            warn_of_jump(s, which);
            return DAE_OK;
        }
        uint32_t slot = m->links.item[which].low;
        if (!shorter) return tell_jump(s, which, m->links.left[slot], m->links.right[slot]);
    }
    m->links.again = shorter;
    m->links.place = s->to;
    return DAE_OK;
}

/* Near a jump, or what seemed one: what changes within steps so short that times and positions have
 * few digits left. NOWHERE: nothing does. */
static size_t changes_at_once(const search *s, const point *a, const point *b, double least)
{
    const model_links *l = &s->m->links;
    if (!l->near || !(b->t - a->t < AT_ONCE * least)) return NOWHERE;
    for (size_t k = 0; k < l->count; k++)
        if (l->item[k].follows &&
            fabs(b->value[2 * k] - a->value[2 * k]) > fmax(s->tolerance, MUCH) * l->most[k])
            return k;
    return NOWHERE;
}

dae_status model_check_kinks(model *m, double from, double to, bool first, double tolerance,
                             double least)
{
    model_links *l = &m->links;
    size_t width = 2 * l->count;
    l->again = false;
    if (!l->watched) return DAE_OK;
    point a = { from, l->room }, b = { to, l->room + width };
    gather(m, b.value);
    note_sizes(m, b.value);
    search s = { .m = m, .tolerance = tolerance, .begin = from, .end = to };
    dae_status status = DAE_OK;
    size_t which = first ? NOWHERE : changes_at_once(&s, &a, &b, least);
    s.to = to;
    if (which != NOWHERE) return tell_jump(&s, which, a.value[2 * which], b.value[2 * which]);
    if (!first && !is_smooth(&s, &a, &b) && find_jump(&s, &a, &b, 0)) status = judge(&s, least);
    if (!l->again) memcpy(a.value, b.value, width * sizeof *a.value);
    return status;
}
