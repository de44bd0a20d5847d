/* derive.c: mass, forces and constraints with the derivatives nobody gave.
 *
 * phi_q, phi_t, and the terms of phi'' and (A v + b)' beside W a come, if not given, from
 * central differences over eight points,
 *
 *     F'  = sum_k d_k (F(s k) - F(-s k)) / s              k = 1..4, error s^8 F(9) / 630
 *     F'' = (e_0 F(0) + sum_k e_k (F(s k) + F(-s k))) / s^2        s^8 F(10) / 3150
 *
 * which are exact for polynomials of degree 8 (9): distance constraints come out to
 * rounding. The bias of phi is the second derivative of phi(t + s, q + s v) by s: one
 * line in place of a matrix of second derivatives; if phi_q and phi_t are given, the
 * first derivative of phi_q v + phi_t along the same line, whose rounding is 50 times
 * smaller.
 *
 * The increments. Where phi varies over a length L, s = L / 32 makes the truncation of F'
 * 1e-15 and its rounding 32 eps; F'' takes 1.5 s (2 s would be best for one coordinate; but
 * when several move, phi may feel the sum of them). L is the user's scale, or is found once by
 * trying: from large to small s (polynomials like it large), the formulas of order 8 and 6 are compared, for the first
 * and for the second derivative (an even function would hide from the first alone).
 *
 * On patterns (sparse.h) coordinates that share no constraint move together: phi_q costs eight
 * evaluations for each colour, and a colour has one increment, in units of what is tried first.
 */
#include "constraint/sparse.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4, TRIES = 10 };
static const double first[POINTS] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 };
static const double second[POINTS] = { 8. / 5, -1. / 5, 8. / 315, -1. / 560 };
/* of order 6, to compare */
static const double first_6[POINTS] = { 3. / 4, -3. / 20, 1. / 60, 0 };
static const double second_6[POINTS] = { 3. / 2, -3. / 20, 1. / 90, 0 };

int dae_mech_mass(dae_mechanism *m, double t, const double *q, double *M)
{
    size_t n = (size_t)m->n;
    memset(M, 0, dae_mech_M_count(m) * sizeof *M);
    if (m->model.mass) return m->model.mass(t, q, M, m->model.user);
    if (m->model.kinetic_jet) return dae_mech_jet_mass(m, t, q, M);
    if (m->model.kinetic) return dae_mech_kinetic_mass(m, t, q, M);
    for (size_t i = 0; i < n; i++)
        M[m->sparse ? (size_t)m->sparse->diagonal[i] : i + i * n] =
            m->model.mass_diagonal ? m->model.mass_diagonal[i] : 1;
    return DAE_OK;
}

int dae_mech_force(dae_mechanism *m, double t, const double *q, const double *v, double *f)
{
    int answer = DAE_OK;
    if (m->model.force)
        answer = m->model.force(t, q, v, f, m->model.user);
    else
        memset(f, 0, (size_t)m->n * sizeof *f);
    if (answer == DAE_OK) answer = dae_mech_kinetic_force(m, t, q, v, f);
    return answer == DAE_OK ? dae_mech_jet_force(m, t, q, v, f) : answer;
}

int dae_mech_phi(dae_mechanism *m, double t, const double *q, double *phi)
{
    if (m->h && m->model.constraint_jet) return dae_mech_jet_phi(m, t, q, phi);
    return m->h ? m->model.constraint(t, q, phi, m->model.user) : DAE_OK;
}

/* out += phi_q y with m->G, out += A y with m->A: the callbacks' own layouts */
static void add_given(const dae_mechanism *m, int rolling, const double *y, double *out)
{
    const dae_pattern *p = rolling ? &m->model.roll_pattern : &m->model.constraint_pattern;
    const double *values = rolling ? m->A : m->G;
    int rows = rolling ? m->model.rolling : m->h;
    if (!m->sparse) {
        dae_mech_add_product(values, rows, m->n, 1, y, out);
        return;
    }
    for (int j = 0; j < m->n; j++)
        for (int64_t k = p->start[j]; k < p->start[j + 1]; k++) out[p->row[k]] += values[k] * y[j];
}

/* How many values they hold */
static size_t given_count(const dae_mechanism *m, int rolling)
{
    if (m->sparse)
        return (size_t)(rolling ? m->model.roll_pattern.start[m->n]
                                : m->model.constraint_pattern.start[m->n]);
    return (size_t)(rolling ? m->model.rolling : m->h) * (size_t)m->n;
}

/* A into m->A, b into m->b */
static int roll(dae_mechanism *m, double t, const double *q)
{
    size_t count = (size_t)m->model.rolling;
    memset(m->A, 0, given_count(m, 1) * sizeof *m->A);
    memset(m->b, 0, count * sizeof *m->b);
    return m->model.roll(t, q, m->A, m->b, m->model.user);
}

/* phi on the line (t + s dt, q + s dq) */
static int phi_at(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                  double s)
{
    for (int i = 0; i < m->n; i++) m->q_side[i] = q[i] + s * dq[i];
    return dae_mech_phi(m, t + s * dt, m->q_side, m->phi_side);
}

/* A v + b there, v fixed */
static int roll_at(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                   double s)
{
    int rows = m->m - m->h;
    for (int i = 0; i < m->n; i++) m->q_side[i] = q[i] + s * dq[i];
    int answer = roll(m, t + s * dt, m->q_side);
    memcpy(m->phi_side, m->b, (size_t)rows * sizeof(double));
    add_given(m, 1, dq, m->phi_side);
    return answer;
}

/* phi_q v + phi_t there, v fixed, when both are given */
static int velocity_at(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                       double s)
{
    int answer = DAE_OK;
    for (int i = 0; i < m->n; i++) m->q_side[i] = q[i] + s * dq[i];
    memset(m->phi_side, 0, (size_t)m->h * sizeof(double));
    if (m->model.constraint_t)
        answer = m->model.constraint_t(t + s * dt, m->q_side, m->phi_side, m->model.user);
    memset(m->G, 0, given_count(m, 0) * sizeof *m->G);
    if (answer == DAE_OK)
        answer = m->model.constraint_q(t + s * dt, m->q_side, m->G, m->model.user);
    add_given(m, 0, dq, m->phi_side);
    return answer;
}

typedef int (*on_line)(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                       double s);

typedef struct stencil {
    const double *weight;
    double center;
    int order; /* 1 or 2 */
} stencil;

/* out[count] := derivative by s at 0 of what F leaves in phi_side */
static int difference(dae_mechanism *m, on_line F, double t, const double *q, double dt,
                      const double *dq, double s, stencil w, int count, double *out)
{
    int answer = DAE_OK;
    double sign = w.order == 1 ? -1 : 1;
    memset(out, 0, (size_t)count * sizeof *out);
    if (w.order == 2) {
        answer = F(m, t, q, dt, dq, 0);
        for (int i = 0; i < count; i++) out[i] = w.center * m->phi_side[i];
    }
    for (int k = POINTS; k > 0; k--) {
        if (w.weight[k - 1] == 0) continue;
        for (int side = 1; side >= -1 && answer == DAE_OK; side -= 2) {
            answer = F(m, t, q, dt, dq, side * k * s);
            for (int i = 0; i < count; i++)
                out[i] += (side > 0 ? 1 : sign) * w.weight[k - 1] * m->phi_side[i];
        }
    }
    for (int i = 0; i < count; i++) out[i] /= w.order == 1 ? s : s * s;
    return answer;
}

static const stencil slope = { first, 0, 1 }, bend = { second, -205. / 72, 2 };

/* ---- increments ---- */

/* phi and, with a fixed vector u in m->f_side, A u + b on the line: all that is to be
 * smooth */
static int probe_at(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                    double s)
{
    int answer = phi_at(m, t, q, dt, dq, s), rolling = m->m - m->h;
    if (answer != DAE_OK || rolling == 0) return answer;
    answer = roll(m, t + s * dt, m->q_side);
    memcpy(m->phi_side + m->h, m->b, (size_t)rolling * sizeof(double));
    add_given(m, 1, m->f_side, m->phi_side + m->h);
    return answer;
}

/* |a - b| / max(|b|, least), holonomic and rolling parts apart; inf if not finite */
static double unlike(const dae_mechanism *m, const double *a, const double *b, double least[2])
{
    double most = 0;
    for (int part = 0; part < 2; part++) {
        int from = part ? m->h : 0, to = part ? m->m : m->h;
        double off = 0, size = least[part];
        for (int i = from; i < to; i++) {
            off = fmax(off, fabs(a[i] - b[i]));
            size = fmax(size, fabs(b[i]));
            if (!isfinite(a[i]) || !isfinite(b[i])) return INFINITY;
        }
        most = fmax(most, size > 0 ? off / size : 0);
    }
    return most;
}

/* How much the orders 8 and 6 differ in s F' and in s^2 F'', relative to the larger of
 * them (F' alone may vanish). least := s |F''|, for the two parts. */
static double disagreement(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                           double s, double least[2])
{
    static const stencil bend_6 = { second_6, -49. / 18, 2 }, slope_6 = { first_6, 0, 1 };
    double none[2] = { 0, 0 }, first_size[2], e;
    int bad = difference(m, probe_at, t, q, dt, dq, s, slope, m->m, m->sum_low);
    first_size[0] = dae_mech_most(m->sum_low, m->h) / s;
    first_size[1] = dae_mech_most(m->sum_low + m->h, m->m - m->h) / s;
    bad |= difference(m, probe_at, t, q, dt, dq, s, bend, m->m, m->sum);
    least[0] = s * dae_mech_most(m->sum, m->h);
    least[1] = s * dae_mech_most(m->sum + m->h, m->m - m->h);
    bad |= difference(m, probe_at, t, q, dt, dq, s, bend_6, m->m, m->sum_low);
    e = unlike(m, m->sum_low, m->sum, bad ? none : first_size);
    bad |= difference(m, probe_at, t, q, dt, dq, s, slope, m->m, m->sum);
    bad |= difference(m, probe_at, t, q, dt, dq, s, slope_6, m->m, m->sum_low);
    return bad ? INFINITY : fmax(e, unlike(m, m->sum_low, m->sum, least));
}

/* At s = L / 32 the formulas of order 8 and 6 differ by 7e-12, and that of order 8 is
 * exact to rounding. */
static const double smooth = 3e-11;

/* F' at s (in m->sum) and at 0.6 s: a period that happens to be s looks smooth from s
 * alone. */
static int confirmed(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                     double s, double least[2])
{
    return difference(m, probe_at, t, q, dt, dq, s, slope, m->m, m->sum) == DAE_OK &&
           difference(m, probe_at, t, q, dt, dq, 0.6 * s, slope, m->m, m->sum_low) == DAE_OK &&
           unlike(m, m->sum_low, m->sum, least) <= 1e-8;
}

/* The largest increment whose disagreement is at the level of rounding, or the best. */
static double find_step(dae_mechanism *m, double t, const double *q, double dt, const double *dq,
                        double most)
{
    double best = most, least = INFINITY, size[2];
    for (int j = 0; j < m->n; j++) m->f_side[j] = cos(1.0 + j); /* any velocity will do */
    for (int k = 0; k < TRIES; k++, most /= 4) {
        double e = disagreement(m, t, q, dt, dq, most, size);
        if (e < 0.25 * least && (e > smooth || confirmed(m, t, q, dt, dq, most, size))) {
            least = e;
            best = most;
        }
        if (least < smooth) break;
    }
    return best;
}

/* Increments to begin with: in q a scale / 32, or about an eighth of it */
static void first_steps(dae_mechanism *m, const double *q)
{
    for (int j = 0; j < m->n; j++) {
        double size = fmax(fabs(q[j]), 1);
        m->step[j] = m->model.scale ? m->model.scale[j] / 32 : exp2(ceil(log2(size)) - 3);
    }
}

/* All coordinates of a colour at once, in units of their first increments. */
static void calibrate_colors(dae_mechanism *m, double t, const double *q)
{
    const dae_mech_colors *of = &m->sparse->of_W;
    for (int c = 0; c < of->count; c++) {
        for (int k = of->start[c]; k < of->start[c + 1]; k++)
            m->near[of->list[k]] = m->step[of->list[k]];
        double unit = find_step(m, t, q, 0, m->near, 1);
        for (int k = of->start[c]; k < of->start[c + 1]; k++) {
            m->step[of->list[k]] *= unit;
            m->near[of->list[k]] = 0;
        }
    }
}

int dae_mech_calibrate(dae_mechanism *m, double t, const double *q)
{
    int search = m->m > 0, moving = !m->model.steady || m->m > m->h;
    if (m->calibrated) return DAE_OK;
    memset(m->near, 0, (size_t)m->n * sizeof(double));
    m->step_t = m->model.time_scale > 0 ? m->model.time_scale / 32 : 1. / 8;
    first_steps(m, q);
    if (search && !m->model.scale && m->sparse) calibrate_colors(m, t, q);
    for (int j = 0; search && !m->model.scale && !m->sparse && j < m->n; j++) {
        m->near[j] = 1;
        m->step[j] = find_step(m, t, q, 0, m->near, m->step[j]);
        m->near[j] = 0;
    }
    if (search && moving && !(m->model.time_scale > 0))
        m->step_t = find_step(m, t, q, 1, m->zero, m->step_t);
    dae_mech_kinetic_calibrate(m, t, q);
    for (int j = 0; j < m->n; j++) m->reach[j] = 32 * m->step[j];
    m->calibrated = 1;
    return DAE_OK;
}

/* As far along (1, v) as no variable leaves its scale. */
static double line_step(const dae_mechanism *m, const double *v)
{
    double s = m->model.steady ? INFINITY : m->step_t;
    for (int j = 0; j < m->n; j++)
        if (fabs(v[j]) * s > m->step[j]) s = m->step[j] / fabs(v[j]);
    return isfinite(s) ? s : m->step_t;
}

/* ---- derivatives ---- */

/* phi_q by differences on its pattern, colour by colour */
static int color_differences(dae_mechanism *m, double t, const double *q)
{
    const dae_mech_colors *of = &m->sparse->of_W;
    const dae_pattern *p = &m->model.constraint_pattern;
    int answer = DAE_OK;
    memset(m->column, 0, (size_t)m->n * sizeof(double));
    for (int c = 0; c < of->count && answer == DAE_OK; c++) {
        for (int l = of->start[c]; l < of->start[c + 1]; l++)
            m->column[of->list[l]] = m->step[of->list[l]];
        answer = difference(m, phi_at, t, q, 0, m->column, 1, slope, m->h, m->sum);
        for (int l = of->start[c]; l < of->start[c + 1]; l++) {
            int j = of->list[l];
            for (int64_t k = p->start[j]; k < p->start[j + 1]; k++)
                m->G[k] = m->sum[p->row[k]] / m->step[j];
            m->column[j] = 0;
        }
    }
    return answer;
}

static int constraint_q(dae_mechanism *m, double t, const double *q, double *W)
{
    size_t h = (size_t)m->h, rows = (size_t)m->m;
    int answer = DAE_OK;
    if (h == 0) return DAE_OK;
    if (m->model.constraint_q) {
        memset(m->G, 0, given_count(m, 0) * sizeof *m->G);
        answer = m->model.constraint_q(t, q, m->G, m->model.user);
    } else if (m->model.constraint_jet) {
        answer = dae_mech_jet_matrix(m, t, q, m->G);
    } else if (m->sparse) {
        answer = color_differences(m, t, q);
    } else {
        memset(m->column, 0, (size_t)m->n * sizeof(double));
        for (int j = 0; j < m->n && answer == DAE_OK; j++) {
            m->column[j] = 1;
            answer = difference(m, phi_at, t, q, 0, m->column, m->step[j], slope, m->h,
                                m->G + (size_t)j * h);
            m->column[j] = 0;
        }
    }
    for (size_t j = 0; !m->sparse && j < (size_t)m->n; j++)
        memcpy(W + j * rows, m->G + j * h, h * sizeof *W);
    return answer;
}

/* Columns of m->G and m->A in turn: W is [phi_q; A], column by column */
static void interleave(const dae_mechanism *m, double *W)
{
    const int64_t *G = m->h ? m->model.constraint_pattern.start : NULL;
    const int64_t *A = m->model.rolling ? m->model.roll_pattern.start : NULL;
    for (int j = 0; j < m->n; j++) {
        for (int64_t k = G ? G[j] : 0; G && k < G[j + 1]; k++) *W++ = m->G[k];
        for (int64_t k = A ? A[j] : 0; A && k < A[j + 1]; k++) *W++ = m->A[k];
    }
}

int dae_mech_matrix(dae_mechanism *m, double t, const double *q, double *W)
{
    size_t h = (size_t)m->h, rows = (size_t)m->m, rolling = rows - h;
    int answer = constraint_q(m, t, q, W);
    if (m->sparse) {
        if (answer == DAE_OK && m->model.rolling) answer = roll(m, t, q);
        interleave(m, W);
        return answer;
    }
    if (answer != DAE_OK || rolling == 0) return answer;
    answer = roll(m, t, q);
    for (size_t j = 0; j < (size_t)m->n; j++)
        memcpy(W + j * rows + h, m->A + j * rolling, rolling * sizeof *W);
    return answer;
}

/* m->c[i] := the largest entry of row i of phi_q */
static void row_sizes(dae_mechanism *m)
{
    memset(m->c, 0, (size_t)m->h * sizeof(double));
    for (int j = 0; j < m->n; j++) {
        int64_t begin = m->sparse ? m->sparse->W.start[j] : (int64_t)j * m->m;
        int64_t end = m->sparse ? m->sparse->W.start[j + 1] : begin + m->m;
        for (int64_t k = begin; k < end; k++) {
            int i = m->sparse ? m->sparse->W.row[k] : (int)(k - begin);
            if (i < m->h) m->c[i] = fmax(m->c[i], fabs(m->W[k]));
        }
    }
}

/* m->sum[i] is the second difference of phi_i over m->step[j] */
static void shorten(dae_mechanism *m, int j, int i)
{
    double bent = fabs(m->sum[i]) / (m->step[j] * m->step[j]);
    if (m->c[i] > 0 && bent * m->reach[j] > 32 * m->c[i])
        m->reach[j] = fmax(32 * m->c[i] / bent, 1e-8 * m->step[j]); /* W_i may be near 0 */
}

/* Polynomials like large increments, and x^2 + y^2 - L^2 has no scale but L itself: what follows
 * from W, a null space or an inverse, turns over once q_j has moved by |W_i| / |d W_ij / d q_j|
 * for some constraint i. 32 times that is allowed: increments are 1e-5 of it, curvature then shows
 * at 1e-7, and differences of what was found by differences (penalties of 1e7) bear no less. */
void dae_mech_find_reach(dae_mechanism *m, double t, const double *q)
{
    const dae_mech_colors *of = m->sparse ? &m->sparse->of_W : NULL;
    for (int j = 0; j < m->n; j++) m->reach[j] = 32 * m->step[j];
    if (m->model.scale || m->h == 0) return;
    row_sizes(m);
    memset(m->column, 0, (size_t)m->n * sizeof(double));
    for (int c = 0; c < (of ? of->count : m->n); c++) {
        int from = of ? of->start[c] : c, to = of ? of->start[c + 1] : c + 1;
        for (int l = from; l < to; l++)
            m->column[of ? of->list[l] : l] = m->step[of ? of->list[l] : l];
        int answer = difference(m, phi_at, t, q, 0, m->column, 1, bend, m->h, m->sum);
        for (int l = from; l < to; l++) {
            int j = of ? of->list[l] : l;
            int64_t begin = of ? m->sparse->W.start[j] : 0;
            int64_t end = of ? m->sparse->W.start[j + 1] : m->h;
            for (int64_t k = begin; answer == DAE_OK && k < end; k++)
                if (!of || m->sparse->W.row[k] < m->h)
                    shorten(m, j, of ? m->sparse->W.row[k] : (int)k);
            m->column[j] = 0;
        }
    }
}

int dae_mech_rate(dae_mechanism *m, double t, const double *q, double *rate)
{
    int answer = DAE_OK;
    memset(rate, 0, (size_t)m->m * sizeof *rate);
    if (m->h && m->model.constraint_t)
        answer = m->model.constraint_t(t, q, rate, m->model.user);
    else if (m->h && !m->model.steady && m->model.constraint_jet)
        answer = dae_mech_jet_rate(m, t, q, rate);
    else if (m->h && !m->model.steady)
        answer = difference(m, phi_at, t, q, 1, m->zero, m->step_t, slope, m->h, rate);
    if (answer != DAE_OK || m->m == m->h) return answer;
    answer = roll(m, t, q);
    memcpy(rate + m->h, m->b, (size_t)(m->m - m->h) * sizeof *rate);
    return answer;
}

int dae_mech_bias(dae_mechanism *m, double t, const double *q, const double *v, double *bias)
{
    double s = line_step(m, v);
    int answer = DAE_OK;
    memset(bias, 0, (size_t)m->m * sizeof *bias);
    if (m->h && m->model.constraint_bias)
        answer = m->model.constraint_bias(t, q, v, bias, m->model.user);
    else if (m->h && m->model.constraint_jet)
        answer = dae_mech_jet_bias(m, t, q, v, bias);
    else if (m->h && m->model.constraint_q && (m->model.steady || m->model.constraint_t))
        answer = difference(m, velocity_at, t, q, 1, v, s, slope, m->h, bias);
    else if (m->h)
        answer = difference(m, phi_at, t, q, 1, v, 1.5 * s, bend, m->h, bias);
    if (answer != DAE_OK || m->m == m->h) return answer;
    if (m->model.roll_bias) return m->model.roll_bias(t, q, v, bias + m->h, m->model.user);
    return difference(m, roll_at, t, q, 1, v, s, slope, m->m - m->h, bias + m->h);
}

int dae_mech_velocity(dae_mechanism *m, double t, const double *q, const double *v, double *c)
{
    int answer = dae_mech_matrix(m, t, q, m->W);
    if (answer == DAE_OK) answer = dae_mech_rate(m, t, q, c);
    if (answer == DAE_OK) dae_mech_W_times(m, m->W, v, c);
    return answer;
}

int dae_mech_matrix_rate(dae_mechanism *m, double t, const double *q, const double *v,
                         const double *nu, double *out)
{
    double s = line_step(m, v);
    size_t bytes = (size_t)m->n * sizeof(double);
    int answer = DAE_OK;
    memset(out, 0, bytes);
    if (m->model.constraint_jet && m->m == m->h)
        return dae_mech_jet_matrix_rate(m, t, q, v, nu, out);
    for (int k = -POINTS; k <= POINTS && answer == DAE_OK; k++) {
        if (k == 0) continue;
        for (int i = 0; i < m->n; i++) m->near[i] = q[i] + k * s * v[i];
        answer = dae_mech_matrix(m, t + k * s, m->near, m->W_side);
        memset(m->column, 0, bytes);
        dae_mech_add_transposed(m->W_side, m->m, m->n, nu, m->column);
        double weight = (k < 0 ? -first[-k - 1] : first[k - 1]) / s;
        for (int i = 0; i < m->n; i++) out[i] += weight * m->column[i];
    }
    return answer;
}
