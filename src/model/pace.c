/* pace.c: how far a step may go, from what the equations say of time.
 *
 * An integrator sees a model at the ends of its steps only. Where x' = sin(w t)^2 begins with a
 * step of a whole period all it sees is zero: the error estimate is small, and wrong. But the
 * forcing is known beforehand, so it is looked at before the step:
 *
 *   terms    what depends on time alone, and not linearly, in the equations and in the relations
 *            that cause events (a sum: each of its terms). A step goes at most half way to the
 *            second turn (from rising to falling or back) of any term, so that a period has two
 *            steps at least: the integrator sees the oscillation and makes its steps as short as it
 *            needs. And it does not go beyond the top of a pulse that is shorter than itself. Turns
 *            are looked for at points of uneven distance over twice the step; are there two among
 *            the first of them, the looks are repeated on a shorter step. A long step is looked at
 *            in pieces of a hundredth of the whole time.
 *   phases   arguments a of sin, cos and tan that depend on the solution: a step is at most
 *            QUARTER / |da/dt|, as if the phase went on at its present rate.
 *
 * Turns that are smaller than a tenth of the relative tolerance, measured by the largest value of
 * the whole sum, are none; nor are those that add up to less than the absolute tolerance. Where steps
 * are short for other reasons (as they are wherever the forcing matters: twenty and more in a period)
 * nothing is changed.
 *
 * Nor is rounding a turn. A term whose parts cancel, d2/dt2 sqrt(sin(t)^2 + cos(t)^2) in a hidden
 * constraint, is nothing else: it turns at every look, however short the step. No size that other terms
 * or tolerances give tells it from a forcing (a small one of slow variables may stand beside large terms
 * of fast ones, and matters); what its own operations may have rounded does. So two values differ where
 * they differ by more than both may be off. That is asked when a step would be shortened only.
 */
#include "model/object.h"

#include "expression/walk.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 20, ENOUGH = 4, PIECES = 100 };

/* Uneven, and no round numbers: a period of a round number must not hide between them. */
static const double AT[PACE_LOOKS] = { 0,          0.07862137, 0.19437551, 0.30891763, 0.44570123,
                                       0.56318919, 0.70744317, 0.83926641, 1 };
static const double QUARTER = 1.6;

/* ---------------------------------------------------------------- which terms ----------- */

typedef enum dependence { CONSTANT, LINEAR, OF_TIME, OF_STATE } dependence;

typedef struct finder {
    model *m;
    ex_walk *w;
    unsigned char *kind;    /* of nodes */
    ex_id *whole;           /* of nodes that are reached: the sum they belong to */
    unsigned char *delayed; /* of variables */
    ex_id *term, *sum, *phase;
    size_t terms, phases;
} finder;

static dependence kind_of_leaf(const finder *f, const ex_node *n)
{
    if (n->op == EX_TIME) return LINEAR;
    if (n->op != EX_VARIABLE || n->b == 2) return CONSTANT;
    if (n->b == 1 || f->delayed[n->a]) return OF_STATE;
    return f->m->variable[n->a].kind == UNKNOWN ? OF_STATE : CONSTANT;
}

static bool keeps_linear(const ex_node *n, const dependence *of)
{
    switch (n->op) {
    case EX_NEGATE:
    case EX_ADD:
    case EX_SUBTRACT: return true;
    case EX_MULTIPLY: return of[0] == CONSTANT || of[1] == CONSTANT;
    case EX_DIVIDE: return of[1] == CONSTANT;
    case EX_IF: return of[0] == CONSTANT;
    default: return false;
    }
}

static dependence kind_of(const finder *f, ex_id e)
{
    const ex_node *n = ex_at(f->m->g, e);
    size_t operands = ex_operand_count(f->m->g, e);
    dependence most = CONSTANT, of[3] = { CONSTANT, CONSTANT, CONSTANT };
    if (operands == 0) return kind_of_leaf(f, n);
    for (size_t k = 0; k < operands; k++) {
        ex_id o = ex_operand(f->m->g, e, k);
        dependence here = o ? (dependence)f->kind[o] : CONSTANT;
        if (k < 3) of[k] = here;
        if (here > most) most = here;
    }
    return most == LINEAR && !keeps_linear(n, of) ? OF_TIME : most;
}

/* From the roots down: operands come later here than what they are operands of. */
static void descend(finder *f, ex_id e)
{
    ex_graph *g = f->m->g;
    int op = ex_at(g, e)->op;
    bool sum = op == EX_ADD || op == EX_SUBTRACT || op == EX_NEGATE;
    if (f->kind[e] == OF_TIME && !sum) {
        f->term[f->terms] = e;
        f->sum[f->terms++] = f->whole[e];
    }
    if (f->kind[e] < OF_TIME || (f->kind[e] == OF_TIME && !sum)) return;
    if (f->kind[e] == OF_STATE && (op == EX_SIN || op == EX_COS || op == EX_TAN))
        f->phase[f->phases++] = ex_operand(g, e, 0);
    for (size_t k = 0; k < ex_operand_count(g, e); k++) {
        ex_id o = ex_operand(g, e, k);
        if (o && !f->whole[o]) f->whole[o] = f->kind[e] == OF_TIME ? f->whole[e] : o;
    }
}

static void find_terms(finder *f, const ex_id *root, size_t roots)
{
    model *m = f->m;
    f->delayed = dae_arena_take(&m->arena, m->variables + 1, 1);
    for (size_t k = 0; k < m->delays; k++) f->delayed[m->delay[k].variable] = 1;
    f->w = ex_walk_begin(m->g, root, roots);
    f->kind = dae_arena_take(&m->arena, m->g->nodes, 1);
    f->whole = dae_arena_take(&m->arena, m->g->nodes, sizeof *f->whole);
    f->term = dae_arena_take(&m->arena, f->w->count + 1, sizeof *f->term);
    f->sum = dae_arena_take(&m->arena, f->w->count + 1, sizeof *f->sum);
    f->phase = dae_arena_take(&m->arena, f->w->count + 1, sizeof *f->phase);
    for (size_t i = 0; i < f->w->count; i++)
        f->kind[f->w->order[i]] = (unsigned char)kind_of(f, f->w->order[i]);
    for (size_t i = 0; i < roots; i++)
        if (root[i]) f->whole[root[i]] = root[i];
    for (size_t i = f->w->count; i-- > 0;)
        if (f->whole[f->w->order[i]]) descend(f, f->w->order[i]);
    ex_walk_end(m->g, f->w);
}

dae_status model_compile_pace(model *m, const ex_id *root, size_t roots)
{
    model_pace *p = &m->pace;
    finder f = { .m = m };
    find_terms(&f, root, roots);
    ex_id *output = dae_arena_take(&m->arena, 2 * f.terms + 1, sizeof *output);
    for (size_t k = 0; k < f.terms; k++) {
        output[k] = f.term[k];
        output[f.terms + k] = f.sum[k];
    }
    p->terms = f.terms;
    p->phases = f.phases;
    p->most = dae_arena_take(&m->arena, f.terms + 1, sizeof *p->most);
    p->seen = dae_arena_take(&m->arena, PACE_LOOKS * (f.terms + 1), sizeof *p->seen);
    p->noise = dae_arena_take(&m->arena, PACE_LOOKS * (f.terms + 1), sizeof *p->noise);
    p->rounding = dae_arena_take(&m->arena, 2 * f.terms + 1, sizeof *p->rounding);
    dae_status status = f.terms ? unit_open(m, &p->term, output, 2 * f.terms) : DAE_OK;
    if (status == DAE_OK && f.phases) status = unit_open(m, &p->phase, f.phase, f.phases);
    return status == DAE_OK && f.phases ? unit_tangents(m, &p->phase) : status;
}

void model_close_pace(model *m)
{
    unit_close(m, &m->pace.term);
    unit_close(m, &m->pace.phase);
    m->pace = (model_pace){ 0 };
}

/* ---------------------------------------------------------------- turns ----------------- */

void model_start_pace(model *m, double start, double end, double atol)
{
    m->pace.end = end;
    m->pace.floor = 0.1 * atol / fmax(1, end - start);
    m->pace.piece = (end - start) / PIECES;
    memset(m->pace.most, 0, m->pace.terms * sizeof *m->pace.most);
}

static bool look_at(model *m, double t, double *seen)
{
    model_pace *p = &m->pace;
    m->value[0] = t;
    if (unit_run(m, &p->term) != DAE_OK) return false;
    memcpy(seen, p->term.out, p->terms * sizeof *seen);
    for (size_t k = 0; k < p->terms; k++)
        p->most[k] = fmax(p->most[k], fabs(p->term.out[p->terms + k]));
    return true;
}

/* What rounding may have done to what was seen. */
static void find_noise(model *m, double t, double far)
{
    model_pace *p = &m->pace;
    for (int i = 0; i < PACE_LOOKS; i++) {
        m->value[0] = t + AT[i] * far;
        unit_gather(m, &p->term);
        if (ex_run_roundings(p->term.machine, p->term.in, p->term.out, p->rounding) != DAE_OK)
            return;
        for (size_t k = 0; k < p->terms; k++)
            p->noise[(size_t)i * p->terms + k] = isfinite(p->rounding[k]) ? p->rounding[k] : 0;
    }
}

/* The looks at which term k turns by more than `least`; PACE_LOOKS: none. */
typedef struct turns {
    int first, second;
    bool sharp; /* the first is a pulse: on both sides it falls by half at once */
} turns;

static double seen_at(const model_pace *p, size_t k, int i)
{
    return p->seen[(size_t)i * p->terms + k];
}

/* By more than `least`, and more than rounding may do. */
static bool differs(const model_pace *p, size_t k, int i, int j, double least)
{
    double noise = p->noise[(size_t)i * p->terms + k] + p->noise[(size_t)j * p->terms + k];
    return fabs(seen_at(p, k, i) - seen_at(p, k, j)) > fmax(least, noise);
}

static bool is_sharp(const model_pace *p, size_t k, int at)
{
    double low = INFINITY, high = -INFINITY, top = seen_at(p, k, at);
    for (int i = 0; i < PACE_LOOKS; i++) {
        low = fmin(low, seen_at(p, k, i));
        high = fmax(high, seen_at(p, k, i));
    }
    return fabs(top - seen_at(p, k, at - 1)) > 0.5 * (high - low) &&
           fabs(top - seen_at(p, k, at + 1)) > 0.5 * (high - low);
}

static turns find_turns(const model_pace *p, size_t k, double least)
{
    double extreme = seen_at(p, k, 0);
    int way = 0, at = 0;
    turns found = { PACE_LOOKS, PACE_LOOKS, false };
    for (int i = 1; i < PACE_LOOKS; i++) {
        double u = seen_at(p, k, i), change = u - extreme;
        if (change * way < 0 && differs(p, k, i, at, least)) {
            if (found.first < PACE_LOOKS) {
                found.second = at;
                return found;
            }
            found.first = at;
            found.sharp = is_sharp(p, k, at);
            way = -way;
            extreme = u;
            at = i;
        } else if (change * way > 0 || (way != 0 && change == 0)) {
            extreme = u;
            at = i;
        } else if (way == 0 && differs(p, k, i, at, least)) {
            way = change > 0 ? 1 : -1;
            extreme = u;
            at = i;
        }
    }
    return found;
}

/* The first look that is the second turn of a term, and the first that is a pulse. `part`: of a step
 * that is much longer, so that any turn is the top of a pulse. */
static turns first_turns(const model_pace *p, bool part, double rtol)
{
    turns all = { PACE_LOOKS, PACE_LOOKS, false };
    for (size_t k = 0; k < p->terms && all.second > 1; k++) {
        turns found = find_turns(p, k, fmax(0.1 * rtol * p->most[k], p->floor));
        if (found.second < all.second) all.second = found.second;
        if ((found.sharp || part) && found.first < all.first) all.first = found.first;
    }
    return all;
}

static double short_of_turns(model *m, double t, double h, bool part, double rtol)
{
    model_pace *p = &m->pace;
    for (int round = 0; round < ROUNDS; round++) {
        double far = fmin(2 * h, m->pace.end - t);
        for (int i = 0; i < PACE_LOOKS; i++)
            if (!look_at(m, t + AT[i] * far, p->seen + (size_t)i * p->terms)) return h;
        memset(p->noise, 0, PACE_LOOKS * p->terms * sizeof *p->noise);
        turns found = first_turns(p, part, rtol);
        if (found.first < PACE_LOOKS || found.second < PACE_LOOKS) {
            find_noise(m, t, far);
            found = first_turns(p, part, rtol);
        }
        if (found.first < PACE_LOOKS) h = fmin(h, AT[found.first] * far);
        if (found.second < PACE_LOOKS) h = fmin(h, 0.5 * AT[found.second] * far);
        if (found.second >= ENOUGH) return h;
    }
    return h;
}

/* ---------------------------------------------------------------- phases ---------------- */

/* The slots hold the present point. */
static double within_a_quarter(model *m, double h)
{
    model_unit *u = &m->pace.phase;
    unit_gather(m, u);
    for (size_t i = 0; i < u->ins; i++) {
        uint32_t slot = u->slot[i];
        bool value = slot > 0 && (slot - 1) % 3 == 0;
        double rate = slot == 0 ? 1 : value ? m->value[slot + 1] : 0;
        u->in_tangent[i * EX_LANES] = isfinite(rate) ? rate : 0;
    }
    if (ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) != DAE_OK)
        return h;
    for (size_t k = 0; k < u->outs; k++) {
        double rate = fabs(u->out_tangent[k * EX_LANES]);
        if (isfinite(rate) && rate * h > QUARTER) h = QUARTER / rate;
    }
    return h;
}

double model_longest_step(model *m, double t, double h, double rtol)
{
    model_pace *p = &m->pace;
    if (p->phases) h = within_a_quarter(m, h);
    if (p->terms == 0) return h;
    bool parts = h > 2 * p->piece;
    for (double from = 0; from < h;) {
        double piece = fmin(h - from, p->piece);
        double far = short_of_turns(m, t + from, piece, parts, rtol);
        if (far < piece) return from + far;
        from += piece;
    }
    return h;
}
