/* amplify.c: variables that elimination would leave to no tolerance.
 *
 * What problem.c puts in its place, v = g(t, x, x'), is seen by no weight of the integrator. Where
 * errors of x_j may be tol_j that of v, in units of its own tolerance, may be
 *
 *     A = sum_j |g_xj| tol_j / tol_v.
 *
 * A loop that is well conditioned may be torn with small divisors: each of them is a factor of A, and
 * of the rounding errors of x. So v is kept as an unknown with the equation v - g = 0 where A is large.
 * Newton's iteration then sees it, pivots are chosen by size, and so does the error estimate: its
 * filter maps errors of differential unknowns to errors of v by g_x, signs included. Where errors of x
 * cancel in v, as they do where v drives a stiff state back, that costs no steps. (To tighten the
 * tolerances of x by |g_xj| instead would: it knows no signs; and it does not help against rounding.)
 *
 * A is looked at where a run begins and after each step, as a derivative in EX_LANES directions at
 * once, each with random signs of the tol_j: no cancellation survives them all, and the largest is
 * seldom below half of sqrt(sum_j (g_xj tol_j)^2). Sizes are the largest so far, of x and v alike: a
 * variable that passes zero has not become harder to compute. For the same reason the tolerance of a v
 * that is kept is absolute and follows its size.
 *
 * Two things bound what is asked for. An error of v below the rounding errors of its own equation
 * cannot be had. And where nothing depends on v (an energy whose terms cancel to zero) nothing damps its
 * errors: to make it right is to make x as much more accurate, so digits are lost beyond LOSS.
 */
#include "model/object.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A beyond BOUND lets a run begin anew with those beyond NEAR as unknowns, so that it does not do so
 * for one after the other. SHARE tolerances are theirs in a step. Chosen on seeds 100 to 109 of
 * tests/model/test_rows.c and the examples: with SHARE 1 chains take a fiftieth more steps, with 3 errors are
 * half as large again; with NEAR 4 a transistor amplifier takes a quarter more. */
static const double BOUND = 10, NEAR = 7, SHARE = 1.5;
static const double LOSS = 100;  /* as many tolerances an explicit output may lose by itself */
static const double NOISE = 100; /* rounding errors in differences of order 5, and some */
enum { MOST_PAUSES = 5 };
enum { SELDOM = 8 }; /* looks at the equations of what is kept: one in so many steps */

void model_open_eliminated(model *m)
{
    model_eliminated *e = &m->eliminated;
    size_t most = model_most_unknowns(m) + 1;
    e->row = dae_arena_take(&m->arena, most, sizeof *e->row);
    e->needed = dae_arena_take(&m->arena, most, sizeof *e->needed);
    e->grown = dae_arena_take(&m->arena, most, sizeof *e->grown);
    memset(e->row, 0xff, most * sizeof *e->row);
    memset(e->grown, 0, most * sizeof *e->grown);
    e->looks = 0;
}

/* Stand-ins may have come since the problem was built for the first time. */
static void make_room(model *m)
{
    model_eliminated *e = &m->eliminated;
    bool *keeps = e->keeps;
    double *size = e->size;
    if (e->slots == m->slots) return;
    e->keeps = dae_arena_take(&m->arena, m->slots, sizeof *e->keeps);
    e->size = dae_arena_take(&m->arena, m->slots, sizeof *e->size);
    e->input = dae_arena_take(&m->arena, m->slots, sizeof *e->input);
    if (keeps) memcpy(e->keeps, keeps, e->slots * sizeof *keeps);
    if (size) memcpy(e->size, size, e->slots * sizeof *size);
    e->slots = m->slots;
}

dae_status model_compile_eliminated(model *m)
{
    model_eliminated *e = &m->eliminated;
    const model_problem *p = &m->p;
    size_t count = 0;
    if (!e->row) return DAE_OK; /* of a derivative array nothing is eliminated */
    ex_id *value = dae_arena_take(&m->arena, p->values_count + 1, sizeof *value);
    e->slot = dae_arena_take(&m->arena, p->values_count + 1, sizeof *e->slot);
    for (size_t k = 0; k < p->values_count; k++) {
        uint32_t slot = p->value_slot[k];
        if (slot_is_derivative(slot) || m->variable[slot_variable(slot)].type != EX_REAL) continue;
        e->slot[count] = slot;
        value[count++] = m->image[slot];
    }
    dae_status status = unit_open(m, &e->unit, value, count);
    return status == DAE_OK ? unit_tangents(m, &e->unit) : status;
}

bool model_forget_kept(model *m)
{
    model_eliminated *e = &m->eliminated;
    bool kept = e->kept > 0;
    make_room(m);
    memset(e->size, 0, m->slots * sizeof *e->size);
    memset(e->keeps, 0, m->slots * sizeof *e->keeps);
    e->kept = 0;
    e->rest = e->pauses = 0;
    return kept;
}

void model_pause_keeping(model *m)
{
    model_eliminated *e = &m->eliminated;
    memset(e->keeps, 0, m->slots * sizeof *e->keeps);
    e->kept = 0;
    e->rest = (size_t)32 << (2 * e->pauses++);
    if (e->pauses > MOST_PAUSES) e->rest = SIZE_MAX;
}

static void note_size(model *m, uint32_t slot)
{
    double *size = &m->eliminated.size[slot], now = fabs(m->value[slot]);
    if (now > *size && isfinite(now)) *size = now;
}

static double tolerance_of(const model *m, uint32_t slot, double rtol, double atol)
{
    double nominal = fabs(m->variable[slot_variable(slot)].nominal_value);
    return rtol * m->eliminated.size[slot] + atol * (nominal > 0 ? nominal : 1);
}

/* Derivatives in the directions of the tolerances of x and x', with random signs. */
static bool push(model *m, model_unit *u, double rtol, const double *atol_each)
{
    model_eliminated *e = &m->eliminated;
    const model_problem *p = &m->p;
    uint32_t bits = 2463534242u;
    for (size_t i = 0; i < u->ins; i++) e->input[u->slot[i]] = (uint32_t)i;
    memset(u->in_tangent, 0, u->ins * EX_LANES * sizeof(double));
    for (int j = 0; j < p->problem.size; j++)
        for (uint32_t order = 0; order < 2; order++) {
            uint32_t slot = slot_of(p->variable[j], order), i = e->input[slot];
            if (i >= u->ins || u->slot[i] != slot) continue;
            double allowed = rtol * e->size[slot] + atol_each[j];
            for (size_t lane = 0; lane < EX_LANES; lane++) {
                bits ^= bits << 13;
                bits ^= bits >> 17;
                bits ^= bits << 5;
                u->in_tangent[i * EX_LANES + lane] = bits & 1 ? allowed : -allowed;
            }
        }
    unit_gather(m, u);
    return ex_run_tangents(u->machine, u->in, u->in_tangent, u->out, u->out_tangent) == DAE_OK;
}

/* 0 where there is no slope. */
static double largest(const model_unit *u, size_t output)
{
    double most = 0;
    for (size_t lane = 0; lane < EX_LANES; lane++)
        most = fmax(most, fabs(u->out_tangent[output * EX_LANES + lane]));
    return isfinite(most) ? most : 0;
}

double model_kept_tolerance(const model *m, int j, double rtol, double atol)
{
    const model_eliminated *e = &m->eliminated;
    uint32_t slot = slot_of(m->p.variable[j], 0);
    if (e->kept == 0 || !e->keeps[slot]) return 0;
    double part = fmax(NOISE * DBL_EPSILON / rtol, e->needed[j] ? 0 : 1 / LOSS);
    return fmax(SHARE * tolerance_of(m, slot, rtol, atol), part * e->grown[j]);
}

static void look_at_kept(model *m, double rtol, const double *atol_each)
{
    model_eliminated *e = &m->eliminated;
    if (e->looks++ % SELDOM || !push(m, &m->p.equations, rtol, atol_each)) return;
    for (int j = 0; j < m->p.problem.size; j++) {
        if (e->row[j] == NOWHERE) continue;
        double own = rtol * e->size[slot_of(m->p.variable[j], 0)] + atol_each[j];
        e->grown[j] = fmax(0, largest(&m->p.equations, e->row[j]) - own);
    }
}

bool model_find_amplified(model *m, double rtol, double atol, const double *atol_each)
{
    model_eliminated *e = &m->eliminated;
    model_unit *u = &e->unit;
    double worst = 0;
    make_room(m);
    for (int j = 0; j < m->p.problem.size; j++) note_size(m, slot_of(m->p.variable[j], 0));
    if (e->kept > 0) look_at_kept(m, rtol, atol_each);
    if (u->outs == 0 || m->p.problem.size == 0) return false;
    for (size_t k = 0; k < u->outs; k++) note_size(m, e->slot[k]);
    for (size_t i = 0; i < u->ins; i++) note_size(m, u->slot[i]);
    if (e->rest > 0) {
        e->rest--;
        return false;
    }
    if (!push(m, u, rtol, atol_each)) return false;
    for (size_t k = 0; k < u->outs; k++)
        worst = fmax(worst, largest(u, k) / tolerance_of(m, e->slot[k], rtol, atol));
    if (worst <= BOUND) return false;
    for (size_t k = 0; k < u->outs; k++) {
        if (largest(u, k) <= NEAR * tolerance_of(m, e->slot[k], rtol, atol)) continue;
        e->keeps[e->slot[k]] = true;
        e->kept++;
    }
    return true;
}
