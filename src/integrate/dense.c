/* dense.c: the solution between the ends of a step.
 *
 * **The equations are asked.** Of the method's polynomial only d and d' are taken, d~ and p~, and
 *
 *     f(t, x, p) = 0,   p = p~ + c (d(t, x) - d~)
 *
 * is solved by chord steps with the factors of K + cC that the step has left, and their c. If E_d
 * and E_p are the errors of d~ and p~, x is off by
 *
 *     (K + cC)^-1 f_p (c E_d - E_p),
 *
 * to first order: the error of a step with the defect c E_d - E_p in d', for unknowns of all levels.
 * What is algebraic or stiff, and may be no polynomial at all over a step whose size the differential
 * unknowns have chosen, is found where the equations have it, and p with it.
 *
 * **d~ must be as good as the step.** The polynomials of multistep methods go through the points of
 * their history: E_d is of the size of the local error. Those of one-step methods are of lower order
 * than their steps. So for these, where the polynomial is not good enough as it is, another, D, is made when
 * the step is first read (DAE_BETWEEN_COLLOCATION): D' goes through the p at M Gauss nodes, D begins at d_n, and
 * what it misses of d_{n+1} is spread evenly. The p to begin with are those of the method's polynomial, or
 * of the polynomial through the p of its stages and both ends; then they are asked for with D, one correction
 * each, until they stay: deferred corrections, each of which gains an order for what is not
 * stiff, and leaves x as it is for what is; the limit is collocation, off by O(h^(M+1)) inside the
 * step. Their change is the error of the pass before, and the last coefficient of D' shows whether M
 * is enough. Where corrections do not converge, and the method can, it makes a step that ends at t.
 *
 * **Reads ask, until reading has cost a quarter of the run.** No comparison at a few places shows a pulse of time between
 * them; what is asked at t itself is right there. Then what costs nothing is read, after it was compared with the
 * equations' answer, one correction at one or two places of a step, whoever reads where: the method's polynomial first,
 * then the polynomial through x at the ends and the Gauss nodes. What agrees is read in all of the step; where nothing
 * does every read asks. (The search for events compares only: what it looks at must be one function.)
 *
 * **Multistep methods look ahead.** Their predictor is the polynomial of the step before, of degree k through t_n
 * ... t_{n-k}, and misses x_{n+1} by e = (t_{n+1} - t_n) ... (t_{n+1} - t_{n-k}) x[...]. The polynomial
 * through t_{n+1} ... t_{n+1-k} is off at t by (t - t_{n+1}) ... (t - t_{n+1-k}) x[...], inside the step by no more than
 * e h / (4 (t_{n+1} - t_{n-k})), a quarter of the local error: for all unknowns, algebraic ones too, which the filter
 * takes out of the error test. So after a step in which the polynomial agreed one whose unfiltered error is within
 * the tolerance need not be compared: but not where there are algebraic unknowns, whose periods may divide the steps.
 *
 * What no way leads to is an error, not a number.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "integrate/error/filter.h"

#include <math.h>
#include <string.h>

enum { MOST = DAE_DENSE_NODES };

/* Tolerances by which what is foretold may differ from what the equations answer. The answer of a multistep
 * method is off by the local error of the step itself: less than that is no difference. What one-step methods
 * foretell may be worse where nobody looks, by a factor of three or so: chosen on the problems of `prove`, seeds
 * 420000 on, as the largest with which reads are as good as when each of them asks. */
static const double AGREES = 0.3, AGREES_MULTISTEP = 1;

/* Unknowns of index 2 and 3 of one-step methods are forgiven this much more: tolerances do not bound them, and what is
 * read is told with their estimate. */
static const double FORGIVEN = 10;

/* Where in a step it is compared: far from the points of Radau's methods (3, 5, 7 stages) and of bim, at which
 * the equations hold and nothing shows, and from the middle, where the slope of a symmetric error is zero. */
enum { PLACES = 2 };
static const double place[PLACES] = { 0.43, 0.22 };

/* What is foretold is no longer read in a step where a read has shown that it is off by this much more. */
static const double DROPPED = 10;

/* Reads ask while reading has cost less than a quarter of the evaluations of the run and a hundred. Where nothing is
 * algebraic, and a step has no more inside than its polynomial, less than nine tenths of them and ten: in a run of few
 * steps a hundred would be most of its cost. */
static const double ASKED_PART = 0.25, ASKED_FREELY = 100, ASKED_PART_FEW = 0.9,
                    ASKED_FREELY_FEW = 10;

/* Of steps that were foreseen every so many is compared all the same. */
enum { NOW_AND_THEN = 4 };

/* A prediction from which the first correction is no more tolerances away than this is good enough where
 * no iteration converges. */
static const double BEARABLE = 10;

/* Tolerances by which a read may be off by its own estimate before it is an error. */
static const double MISSED = 30;

/* Deferred corrections end when they leave less than this part of a tolerance, when they become smaller by less
 * than this factor, or after so many. */
static const double SETTLED = 0.3, STALLED = 0.7;
enum { MOST_PASSES = 6 };

/* Of what shows of the error of an unknown of index 2 or 3 this much is told, and the part of it that is
 * remembered a step later: chosen on 60 problems of `prove`, seeds 5000 on. */
static const double DERIVED = 2, REMEMBERED = 0.7;

/* Above this, relative, the polynomial of the method is no picture of the solution. */
static const double UNRESOLVED = 1e-3;

/* Where in a step that is asked: a hidden period of the step divides not all of these. */
enum { PROBES = 3 };
static const double probe[PROBES] = { 0.618, 0.309, 0.857 };

/* ---- Gauss nodes ---- */

/* P_0 .. P_count at x. */
static void legendre(double x, int count, double *P)
{
    P[0] = 1;
    P[1] = x;
    for (int k = 1; k < count; k++) P[k + 1] = ((2 * k + 1) * x * P[k] - k * P[k - 1]) / (k + 1);
}

/* Nodes in (0, 1) and weights; coefficient k of a polynomial of degree M - 1 in Legendre's
 * polynomials is (2 k + 1) sum_j to_legendre[k][j] v_j. */
static void make_nodes(dae_dense *a, int M)
{
    double P[MOST + 2];
    if (a->nodes == M) return;
    a->nodes = M;
    for (int j = 0; j < M; j++) {
        double x = cos(acos(-1) * (j + 0.75) / (M + 0.5)), slope = 1;
        for (int round = 0; round < 8; round++) {
            legendre(x, M, P);
            slope = M * (x * P[M] - P[M - 1]) / (x * x - 1);
            x -= P[M] / slope;
        }
        legendre(x, M, P);
        double weight = 1 / ((1 - x * x) * slope * slope);
        int i = M - 1 - j;
        a->node[i] = 0.5 * (1 + x);
        for (int k = 0; k < M; k++) a->to_legendre[k][i] = weight * P[k];
    }
}

/* Weights of the values at the nodes: of the polynomial itself at theta, and of its integral. */
static void node_weights(const dae_dense *a, double theta, double *value, double *integral)
{
    double P[MOST + 2], x = 2 * theta - 1;
    int M = a->nodes;
    legendre(x, M, P);
    for (int j = 0; j < M; j++) {
        double v = a->to_legendre[0][j], I = 0.5 * (1 + x) * v;
        for (int k = 1; k < M; k++) {
            v += (2 * k + 1) * a->to_legendre[k][j] * P[k];
            I += 0.5 * a->to_legendre[k][j] * (P[k + 1] - P[k - 1]);
        }
        value[j] = v;
        integral[j] = I;
    }
}

/* ---- memory ---- */

dae_status dae_dense_open(dae_solver *s)
{
    dae_dense *a = &s->dense;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m, computed = (size_t)s->system.computed;
    int nodes = 5 + s->order_most / 2;
    a->most = s->method->between == DAE_BETWEEN_OWN          ? 0
              : s->method->between == DAE_BETWEEN_POLYNOMIAL ? 8
              : nodes < MOST                                 ? nodes
                                                             : MOST;
    size_t rows = (size_t)a->most;
    dae_vector_wish wish[] = { { &a->X, rows * n },      { &a->P, rows * m }, { &a->x, n },
                               { &a->p, n > m ? n : m }, { &a->x_pred, n },   { &a->p_pred, m },
                               { &a->d_pred, computed }, { &a->recent, n } };
    a->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    return a->vectors ? dae_points_open(s) : DAE_E_NOMEM;
}

void dae_dense_close(dae_solver *s)
{
    dae_points_close(s);
    dae_free(&s->memory, s->dense.vectors);
    s->dense.vectors = NULL;
}

/* A new step: its beginning is kept, nothing is known of its inside. */
void dae_dense_begin(dae_solver *s)
{
    dae_dense *a = &s->dense;
    a->vouched = a->source;
    a->source = DAE_READ_UNKNOWN;
    a->reads_before = a->reads;
    a->reads = 0;
    a->corrected = 0;
    a->defect = 0;
    a->was_resolved = a->resolved > 0;
    a->resolved = -1;
    for (int i = 0; a->recent && i < s->system.n; i++) a->recent[i] *= REMEMBERED;
    dae_points_take(s);
}

/* ---- asking ---- */

/* Where the prediction of an algebraic unknown leaves the range of the step's ends by more than its width it is
 * worth less than the line between them. Not where the equations know of a derivative all the same: p~ belongs to x~. */
static void tame(dae_solver *s, double theta, double *x)
{
    const dae_matrix *a = &s->system.matrix;
    const double *from = s->dense.x_begin, *to = s->x;
    for (int i = 0; i < s->system.n; i++) {
        if (s->system.level[i] != DAE_ALGEBRAIC) continue;
        int derivative = 0;
        for (int64_t k = dae_column_begin(a, i); k < dae_column_end(a, i); k++)
            derivative |= s->corrector.C[k] != 0;
        if (derivative) continue;
        double line = from[i] + theta * (to[i] - from[i]), width = fabs(to[i] - from[i]);
        if (!(fabs(x[i] - line) <= 2 * width)) x[i] = line;
    }
}

/* The solution at t with d~ and p~ in x_pred (d_pred), p_pred; it is left in the trial's x and p. Once: one
 * correction will do, if it is not far. */
static int ask(dae_solver *s, double t, int once)
{
    dae_dense *a = &s->dense;
    dae_trial *g = &s->trial;
    double h = s->t - s->t_previous, theta = (t - s->t_previous) / h;
    const double *nearer = theta < 0.5 ? a->x_begin : s->x;
    dae_stage q = { .t = t,
                    .h = h,
                    .x_pred = a->x_pred,
                    .p_pred = a->p_pred,
                    .d_pred = a->d_pred,
                    .x = g->x,
                    .p = g->p,
                    .e = s->look_e,
                    .d = g->d,
                    .e_d = g->e_d,
                    .w = s->w,
                    .exact = g->prescribed,
                    .once = once && !g->prescribed };
    if (!s->system.computed) tame(s, theta, a->x_pred);
    if (dae_corrector_touch_up(&s->corrector, &q)) return 1;
    double off = s->corrector.first;
    dae_corrector kept;
    dae_corrector_keep(&s->corrector, &kept);
    if (!(s->corrector.c_factor != 0)) s->corrector.c_factor = 1 / h;
    q.c = s->corrector.c_factor;
    int found = dae_corrector_look(&s->corrector, &q) ||
                dae_corrector_damped(&s->corrector, &q, 20, DAE_HALVINGS) == DAE_OK;
    if (!found &&
        off <= BEARABLE) { /* the equations are noise, but not far from what was foretold */
        memcpy(g->x, a->x_pred, (size_t)s->system.n * sizeof(double));
        memcpy(g->p, a->p_pred, (size_t)s->system.m * sizeof(double));
        found = 1;
    }
    for (int i = 0; !found && !s->system.computed && i < s->system.n; i++)
        if (s->system.level[i] == DAE_ALGEBRAIC) a->x_pred[i] = nearer[i];
    if (!found) found = dae_corrector_damped(&s->corrector, &q, 20, DAE_HALVINGS) == DAE_OK;
    if (dae_corrector_take_back(&s->corrector, &kept) != DAE_OK) s->corrector.want_jacobian = 1;
    return found;
}

/* The size of v in tolerances. Unknowns of index 2 and 3 are not bound by these: they are forgiven more. */
static double size_of(const dae_solver *s, const double *v)
{
    double most = 0, forgiven = s->method->between == DAE_BETWEEN_POLYNOMIAL ? 1 : FORGIVEN;
    for (int i = 0; i < s->system.n; i++) {
        double size = fabs(v[i]) * s->w[i] / (s->system.level[i] >= DAE_INDEX2 ? forgiven : 1);
        if (!(size <= most)) most = size == size ? size : INFINITY;
    }
    return most;
}

/* The distance of x from the solution that was asked for. */
static double distance(dae_solver *s, const double *x)
{
    for (int i = 0; i < s->system.n; i++) s->look_e[i] = x[i] - s->trial.x[i];
    return size_of(s, s->look_e);
}

/* ---- the polynomial D ---- */

/* d~ and p~ from D at theta. Where d = x algebraic unknowns have no d: they come from X. */
static void predict_by_nodes(dae_solver *s, double theta)
{
    dae_dense *a = &s->dense;
    int m = s->system.m, n = s->system.n, M = a->nodes, computed = s->system.computed;
    double value[MOST], integral[MOST], h = s->t - s->t_previous;
    const double *begin = computed ? a->d_begin : a->x_begin, *end = computed ? s->d : s->x;
    double *d = computed ? a->d_pred : a->x_pred;
    node_weights(a, theta, value, integral);
    for (int i = 0; i < m; i++) {
        double p = 0, rise = 0, all = 0;
        for (int j = 0; j < M; j++) {
            double at = a->P[(size_t)j * (size_t)m + (size_t)i];
            p += value[j] * at;
            rise += integral[j] * at;
            all += a->to_legendre[0][j] * at;
        }
        double missed = end[i] - begin[i] - h * all;
        d[i] = begin[i] + h * rise + theta * missed;
        a->p_pred[i] = p + missed / h;
    }
    for (int i = 0; i < n; i++) {
        if (!computed && s->system.level[i] != DAE_ALGEBRAIC) continue;
        double x = 0;
        for (int j = 0; j < M; j++) x += value[j] * a->X[(size_t)j * (size_t)n + (size_t)i];
        a->x_pred[i] = x;
    }
}

static void keep_node(dae_solver *s, int j)
{
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    memcpy(s->dense.X + (size_t)j * n, s->trial.x, n * sizeof(double));
    memcpy(s->dense.P + (size_t)j * m, s->trial.p, m * sizeof(double));
}

/* x and p at the nodes, asked for with the method's polynomial. */
static int fill_nodes(dae_solver *s, int M)
{
    dae_dense *a = &s->dense;
    make_nodes(a, M);
    for (int j = 0; j < M; j++) {
        double t = s->t_previous + a->node[j] * (s->t - s->t_previous);
        s->method->interpolate(s, t, a->x_pred, a->p_pred, a->d_pred);
        if (!ask(s, t, 1)) return 0;
        keep_node(s, j);
    }
    return 1;
}

/* P_j = sum over k of the p at the k-th known point, times its Lagrange polynomial at node j. */
static void add_slope(dae_solver *s, const double *p, int k, double L[MOST][MOST + 2])
{
    dae_dense *a = &s->dense;
    size_t m = (size_t)s->system.m;
    for (int j = 0; j < a->nodes; j++)
        for (size_t i = 0; i < m; i++) a->P[(size_t)j * m + i] += L[j][k] * p[i];
}

/* X and P to begin with, for nothing: x of the method's polynomial, and its slope. Where the equations hold at
 * points inside the step, p of these and of both ends has more in it: an order or two. */
static void guess_nodes(dae_solver *s, int M)
{
    dae_dense *a = &s->dense;
    dae_trial *g = &s->trial;
    size_t n = (size_t)s->system.n, m = (size_t)s->system.m;
    double at[MOST + 2] = { 0 }, L[MOST][MOST + 2];
    int count = 1;
    make_nodes(a, M);
    for (int j = 0; j < M; j++)
        s->method->interpolate(s, s->t_previous + a->node[j] * (s->t - s->t_previous),
                               a->X + (size_t)j * n, a->P + (size_t)j * m, a->d_pred);
    while (s->method->inside && count <= MOST &&
           (at[count] = s->method->inside(s, count - 1, g->x, g->d, g->p)) > 0)
        count++;
    if (count == 1) return;
    at[count] = 1;
    for (int j = 0; j < M; j++) dae_lagrange(count + 1, at, a->node[j], L[j], NULL);
    memset(a->P, 0, (size_t)M * m * sizeof(double));
    add_slope(s, a->p_begin, 0, L);
    for (int k = 1; k < count; k++) {
        s->method->inside(s, k - 1, g->x, g->d, g->p);
        add_slope(s, g->p, k, L);
    }
    add_slope(s, s->p, count, L);
}

/* One deferred correction: the largest change of x, in tolerances; NaN: it failed. */
static double correct_nodes(dae_solver *s)
{
    dae_dense *a = &s->dense;
    double most = 0;
    for (int j = 0; j < a->nodes; j++) {
        predict_by_nodes(s, a->node[j]);
        if (!ask(s, s->t_previous + a->node[j] * (s->t - s->t_previous), 1)) return NAN;
        most = fmax(most, distance(s, a->X + (size_t)j * (size_t)s->system.n));
        keep_node(s, j);
    }
    return most;
}

/* What D lacks, in tolerances of x: its last coefficient, by the ratio to the one before taken on to
 * the next, through the filter. */
static double lacking(dae_solver *s)
{
    dae_dense *a = &s->dense;
    int m = s->system.m, M = a->nodes;
    double h = s->t - s->t_previous, last = 0, before = 0, *E = a->p_pred, *v = a->x_pred;
    dae_trial end = s->trial;
    for (int i = 0; i < m; i++) {
        double c[2] = { 0, 0 };
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < M; j++)
                c[k] += (2 * (M - 1 - k) + 1) * a->to_legendre[M - 1 - k][j] *
                        a->P[(size_t)j * (size_t)m + (size_t)i];
        double w = s->system.computed ? s->w_d[i] : s->w[i];
        last = fmax(last, fabs(c[0]) * w);
        before = fmax(before, fabs(c[1]) * w);
        E[i] = h * c[0] / (4 * M);
    }
    end.t = s->t, end.x = s->x, end.p = s->p;
    if (dae_filter_side(s, &end, E, v) != DAE_OK || dae_filter_solve(s, v, 1) != DAE_OK)
        return INFINITY;
    double ratio = last < before ? last / before : 1;
    return ratio * size_of(s, v);
}

/* The polynomial of a one-step method's step with M nodes; 0: it cannot be had. What a correction leaves is
 * foretold by how much smaller it was than the one before. */
static int collocate_with(dae_solver *s, int M)
{
    dae_dense *a = &s->dense;
    double last = INFINITY, left = INFINITY;
    guess_nodes(s, M);
    for (int pass = 0; pass < MOST_PASSES && left > SETTLED; pass++) {
        double change = correct_nodes(s), rate = change / last;
        if (isnan(change)) return 0;
        left = change * (pass > 0 ? fmin(1, rate) : 1);
        if (pass > 1 && rate > STALLED) break; /* the first guess is of another kind */
        last = change;
    }
    a->lacking = lacking(s);
    a->defect = fmax(left > SETTLED ? left : 0, a->lacking);
    return 1;
}

static int collocate(dae_solver *s)
{
    dae_dense *a = &s->dense;
    int M = 3 + s->stats.order / 2;
    if (!collocate_with(s, M < a->most ? M : a->most)) return 0;
    if (a->lacking > 1 && a->nodes < a->most && !collocate_with(s, a->most)) return 0;
    return 1;
}

/* ---- what can be had for nothing ---- */

/* Value and slope of the polynomial through x at the ends and at the nodes; p from the nodes, where
 * that means something. */
static void read_nodes(dae_solver *s, double t, double *x, double *p)
{
    const dae_dense *a = &s->dense;
    int n = s->system.n, m = s->system.m, M = a->nodes;
    double h = s->t - s->t_previous, theta = (t - s->t_previous) / h;
    double node[MOST + 2], L[MOST + 2], slope[MOST + 2], value[MOST], integral[MOST];
    memcpy(node + 1, a->node, (size_t)M * sizeof(double));
    node[0] = 0, node[M + 1] = 1;
    dae_lagrange(M + 2, node, theta, L, slope);
    node_weights(a, theta, value, integral);
    for (int i = 0; i < n; i++) {
        double v = L[0] * a->x_begin[i] + L[M + 1] * s->x[i];
        double r = slope[0] * a->x_begin[i] + slope[M + 1] * s->x[i];
        for (int j = 0; j < M; j++) {
            v += L[j + 1] * a->X[(size_t)j * (size_t)n + (size_t)i];
            r += slope[j + 1] * a->X[(size_t)j * (size_t)n + (size_t)i];
        }
        x[i] = v;
        if (!s->system.computed) p[i] = r / h;
    }
    for (int i = 0; i < m; i++) {
        if (!s->system.computed && s->system.level[i] == DAE_ALGEBRAIC) continue;
        double v = 0;
        for (int j = 0; j < M; j++) v += value[j] * a->P[(size_t)j * (size_t)m + (size_t)i];
        p[i] = v;
    }
}

static void foretell(dae_solver *s, int source, double t)
{
    dae_dense *a = &s->dense;
    if (source == DAE_READ_POLYNOMIAL)
        s->method->interpolate(s, t, a->x, a->p, NULL);
    else
        read_nodes(s, t, a->x, a->p);
}

/* d~ and p~ at t. */
static void predict(dae_solver *s, double t)
{
    dae_dense *a = &s->dense;
    if (s->method->between == DAE_BETWEEN_COLLOCATION && a->corrected > 0)
        predict_by_nodes(s, (t - s->t_previous) / (s->t - s->t_previous));
    else
        s->method->interpolate(s, t, a->x_pred, a->p_pred, a->d_pred);
}

/* What is read of an unknown of index 2 or 3 is no better than this: dae_compare_with_ends tells it. */
static void remember_difference(dae_solver *s)
{
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] >= DAE_INDEX2)
            s->dense.recent[i] = fmax(s->dense.recent[i], DERIVED * fabs(s->look_e[i]));
}

/* Where an unknown follows from time alone steps may be longer than its periods, and what it was at their ends
 * says nothing of it inside: there every step is compared. */
static int has_algebraic(const dae_solver *s)
{
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] == DAE_ALGEBRAIC) return 1;
    return s->system.computed;
}

/* The polynomial of the step before, good inside it, has foretold where this one ends, to a tolerance of the
 * local error and for all unknowns: then that through the end is off by a quarter of it inside. */
static int foreseen(const dae_solver *s)
{
    int where;
    if (has_algebraic(s)) return 0;
    return s->dense.vouched == DAE_READ_POLYNOMIAL &&
           s->method->between == DAE_BETWEEN_POLYNOMIAL &&
           fabs(s->trial.constant) * dae_norm_max(s->system.n, s->trial.e, s->w, &where) <= 1;
}

/* Do the equations answer what a source foretells? */
static int agrees(dae_solver *s, int source)
{
    dae_dense *a = &s->dense;
    int multistep = s->method->between == DAE_BETWEEN_POLYNOMIAL;
    int count =
        multistep && a->vouched == source ? 1 : PLACES; /* steps of the others are dear, and long */
    int first = count == 1 ? (int)(s->stats.steps % PLACES) : 0;
    if (s->trial.prescribed) return 0; /* no tolerance says what would be near enough */
    if (source == DAE_READ_POLYNOMIAL && foreseen(s) && s->stats.steps % NOW_AND_THEN) return 1;
    for (int k = first; k < first + count; k++) {
        double t = s->t_previous + place[k] * (s->t - s->t_previous);
        foretell(s, source, t);
        predict(s, t);
        if (!ask(s, t, 1) || !(distance(s, a->x) <= (multistep ? AGREES_MULTISTEP : AGREES)))
            return 0;
        remember_difference(s);
    }
    return 1;
}

/* Where the nodes cannot be had (f is not defined at one of them), x is asked for with the method's polynomial. */
static void have_nodes(dae_solver *s, int M)
{
    dae_dense *a = &s->dense;
    if (a->corrected) return;
    if (s->method->between == DAE_BETWEEN_COLLOCATION)
        a->corrected = collocate(s) ? 1 : -1;
    else
        a->corrected = fill_nodes(s, M) ? 1 : -1;
}

/* What the step is read from: the method's polynomial, the nodes, or the equations each time. It is decided at the
 * first read and stays: what was read is one function, and a root that was bracketed does not go away. Nodes of a
 * multistep method cost as much as that many reads: they are made where the step before had so many. */
static void find_source(dae_solver *s)
{
    dae_dense *a = &s->dense;
    if (a->source != DAE_READ_UNKNOWN) return;
    a->source = agrees(s, DAE_READ_POLYNOMIAL) ? DAE_READ_POLYNOMIAL : DAE_READ_NOTHING;
    int worth = s->method->between == DAE_BETWEEN_COLLOCATION || a->reads_before >= a->most;
    if (a->source != DAE_READ_NOTHING || !worth) return;
    have_nodes(s, a->most);
    if (a->corrected > 0 && agrees(s, DAE_READ_NODES)) a->source = DAE_READ_NODES;
}

/* ---- derivatives of what has no d ---- */

/* f(t, x, p~ + c (d(x) - d~)) at t + dt and x = the asked solution + dt v, with d~ and p~ of that time. */
static int residual_beside(dae_solver *s, double t, double dt, const double *v, double *r)
{
    dae_dense *a = &s->dense;
    const double *x = s->trial.x;
    double c = s->corrector.c_factor, *moved = s->trial_x, *p = s->trial_2;
    predict(s, t + dt);
    for (int i = 0; i < s->system.n; i++) {
        int differentiated = s->system.level[i] != DAE_ALGEBRAIC;
        moved[i] = x[i] + dt * v[i];
        p[i] = a->p_pred[i] + (differentiated ? c * (moved[i] - a->x_pred[i]) : 0);
    }
    return dae_system_f(&s->system, t + dt, moved, p, r);
}

/* Where an algebraic unknown is no polynomial over the step its derivative is none either: that of
 * the solution x(t) of the equations that were asked, (K + cC) v = -d/dt f, by differences in t and along v
 * and chord steps. On failure p stays as it is. */
static void differentiate_algebraic(dae_solver *s, double t, double *p)
{
    dae_corrector *q = &s->corrector;
    double dt = cbrt(DBL_EPSILON) * fabs(s->t - s->t_previous), last = INFINITY;
    double *v = s->dense.x, *up = q->r, *down = q->delta; /* x has been given out already */
    int n = s->system.n, where;
    if (dt < 64 * DBL_EPSILON * fabs(t)) return;
    for (int i = 0; i < n; i++) v[i] = s->system.level[i] == DAE_ALGEBRAIC ? 0 : p[i];
    for (int round = 0; round < 8; round++) {
        if (residual_beside(s, t, dt, v, up) != DAE_OK ||
            residual_beside(s, t, -dt, v, down) != DAE_OK)
            return;
        for (int i = 0; i < n; i++) down[i] = (up[i] - down[i]) / (2 * dt);
        if (dae_corrector_solve_with(q, down, 1) != DAE_OK) return;
        for (int i = 0; i < n; i++) v[i] -= down[i];
        double size = dae_norm_max(n, down, s->w, &where) * fabs(s->t - s->t_previous);
        if (!(size <= last)) break;
        last = size;
        if (size <= 1) break;
    }
    if (!(last <= 10)) return;
    for (int i = 0; i < n; i++)
        if (s->system.level[i] == DAE_ALGEBRAIC) p[i] = v[i];
}

/* ---- reading ---- */

/* Where the answer is far from d~ the step has passed over something: d~ is off by E_d = d(x) - d~, and the answer by what is
 * left of it, (K + cC)^-1 c f_p E_d. Little of what is stiff; of anything else it is no solution, and not given out. Of
 * one-step methods d~ is asked where no polynomial through the nodes is good enough. That of multistep methods may be
 * poor where the solution is not, and is asked where the step can be taken again (solver.c). */
static int is_missed(dae_solver *s, double t)
{
    dae_dense *a = &s->dense;
    dae_trial at = s->trial;
    int computed = s->system.computed;
    double *E = s->trial_2, *v = s->look_e;
    int by_nodes =
        s->method->between == DAE_BETWEEN_COLLOCATION && a->corrected > 0 && a->defect > BEARABLE;
    int by_past = s->method->between == DAE_BETWEEN_POLYNOMIAL && t == s->t_asked;
    if (!(by_nodes || by_past) || s->corrector.first * s->safety <= MISSED || s->trial.prescribed)
        return 0;
    for (int i = 0; i < s->system.m; i++)
        E[i] = computed ? at.d[i] - a->d_pred[i] : at.x[i] - a->x_pred[i];
    for (int i = 0; i < s->system.n && !computed; i++)
        if (s->system.level[i] != DAE_DIFFERENTIAL) E[i] = 0; /* d~ has none of it */
    at.t = t;
    if (dae_filter_side(s, &at, E, v) != DAE_OK || dae_filter_solve(s, v, 1) != DAE_OK) return 0;
    double most = 0;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] < DAE_INDEX2) most = fmax(most, fabs(v[i]) * s->w[i]);
    return most * s->safety > MISSED;
}

/* What is foretold at t, and what the equations answer to it, one correction from it. Where x' is wanted it is theirs: the
 * slope of a polynomial is an order worse, and what follows from x' (a force, in a model an unknown that was solved
 * for) with it. 0: they contradict, and nothing is foretold in the rest of the step. */
static int read_foretold(dae_solver *s, double t, int slopes, int asking)
{
    dae_dense *a = &s->dense;
    double near = s->method->between == DAE_BETWEEN_POLYNOMIAL ? AGREES_MULTISTEP : AGREES;
    foretell(s, a->source, t);
    if (!slopes && !asking) return 1;
    predict(s, t);
    if (!ask(s, t, 1)) return 1;
    double off = asking ? distance(s, a->x) : 0;
    if (!(off <= DROPPED * near)) {
        a->source = DAE_READ_NOTHING;
        return 0;
    }
    if (off > near) memcpy(a->x, s->trial.x, (size_t)s->system.n * sizeof(double));
    for (int i = 0; i < s->system.m; i++)
        if (s->system.computed || s->system.level[i] != DAE_ALGEBRAIC) a->p[i] = s->trial.p[i];
    return 1;
}

static int is_cheap(const dae_solver *s)
{
    double spent = (double)s->dense.spent, run = (double)s->stats.residuals - spent;
    double most = ASKED_PART * run + ASKED_FREELY;
    return spent < (has_algebraic(s) ? most : fmin(most, ASKED_PART_FEW * run + ASKED_FREELY_FEW));
}

static int read_inside(dae_solver *s, double t, int slopes, int asking)
{
    dae_dense *a = &s->dense;
    dae_scale_weights(s, s->t - s->t_previous);
    a->doubtful = 0;
    find_source(s);
    a->reads++;
    asking = asking && is_cheap(s);
    if (a->source != DAE_READ_NOTHING && read_foretold(s, t, slopes, asking)) return 1;
    if (a->corrected > 0 && a->defect > BEARABLE && s->method->refine &&
        s->method->refine(s, t, a->x, a->p))
        return 1;
    predict(s, t);
    if (!ask(s, t, 0) || is_missed(s, t)) return 0;
    memcpy(a->x, s->trial.x, (size_t)s->system.n * sizeof(double));
    memcpy(a->p, s->trial.p, (size_t)s->system.m * sizeof(double));
    a->doubtful = !s->system.computed;
    return 1;
}

static dae_status refuse(dae_solver *s, double t)
{
    char name[32];
    int worst = s->corrector.worst;
    dae_fail(&s->report, DAE_E_CONVERGENCE,
             "no solution of the equations was found between two steps");
    if (worst >= 0)
        dae_at(&s->report, "t = %.10g, unknown '%s'", t, dae_unknown_name(&s->system, worst, name));
    else
        dae_at(&s->report, "t = %.10g", t);
    dae_why(&s->report,
            "Newton's iteration does not converge there, from the ends of the step [%.10g, %.10g] "
            "or from what the method foretells",
            s->t_previous, s->t);
    dae_hint(&s->report,
             "a smaller tolerance or max_step; at the ends of steps the solution is known");
    return DAE_E_CONVERGENCE;
}

dae_status dae_look(dae_solver *s, double t, double *x, double *p, int asking)
{
    dae_dense *a = &s->dense;
    int64_t before = s->stats.residuals;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    if (s->system.n == 0) return DAE_OK;
    if (s->first.supplied) return dae_first_read(s, t, x, p);
    if (t == s->t || t == s->t_previous || s->method->between == DAE_BETWEEN_OWN) {
        s->method->interpolate(s, t, x, p, NULL);
        s->points.reading = 0;
        return DAE_OK;
    }
    int found = read_inside(s, t, p != NULL, asking);
    a->spent += s->stats.residuals - before;
    if (!found) return refuse(s, t);
    if (s->method->polish) s->method->polish(s, t, a->x, a->p);
    dae_points_read(s, t, a->x);
    if (x) memcpy(x, a->x, nb);
    if (p && a->doubtful) differentiate_algebraic(s, t, a->p);
    if (p) memcpy(p, a->p, mb);
    return DAE_OK;
}

/* ---- how good it is, where no points are kept (accuracy.c) ---- */

/* Unknowns of index 2 and 3 are derivatives of the others: their errors are not those of one step, they come
 * and go with the steps. At the ends of a step they are those of two formulas, inside those of a third: how
 * far the polynomial through the nodes misses the ends tells their size. */
void dae_compare_with_ends(dae_solver *s, double *estimate)
{
    dae_dense *a = &s->dense;
    double value[2][MOST], integral[MOST];
    int n = s->system.n;
    dae_scale_weights(s, s->t - s->t_previous);
    have_nodes(s, 4);
    if (a->corrected < 0) return;
    node_weights(a, 0, value[0], integral);
    node_weights(a, 1, value[1], integral);
    for (int i = 0; i < n; i++) {
        if (s->system.level[i] < DAE_INDEX2) continue;
        double jump[2] = { -a->x_begin[i], -s->x[i] };
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < a->nodes; j++)
                jump[k] += value[k][j] * a->X[(size_t)j * (size_t)n + (size_t)i];
        /* both may be small by chance, but not for many steps: they are forgotten slowly */
        double now = DERIVED * fmax(estimate[i], fmax(fabs(jump[0]), fabs(jump[1])));
        a->recent[i] = fmax(now, a->recent[i]);
        estimate[i] = a->recent[i];
    }
}

int dae_is_unresolved(dae_solver *s, double t)
{
    dae_dense *a = &s->dense;
    (void)t;
    if (s->system.n == 0 || s->first.supplied || s->t == s->t_previous ||
        s->method->between == DAE_BETWEEN_OWN)
        return 0;
    if (a->resolved < 0) {
        /* after a step that was resolved one place is enough, each time another */
        int first = a->was_resolved ? (int)(s->stats.steps % PROBES) : 0;
        int last = a->was_resolved ? first : PROBES - 1;
        a->resolved = 1;
        dae_scale_weights(s, s->t - s->t_previous);
        for (int k = first; k <= last && a->resolved; k++) {
            double at = s->t_previous + probe[k] * (s->t - s->t_previous);
            s->method->interpolate(s, at, a->x_pred, a->p_pred, a->d_pred);
            memcpy(a->x, a->x_pred, (size_t)s->system.n * sizeof(double));
            a->resolved = ask(s, at, 0) && distance(s, a->x) * s->options.rtol <= UNRESOLVED;
        }
    }
    return !a->resolved;
}

void dae_glance(dae_solver *s, double t, double *x, double *p)
{
    if (s->system.n == 0 || (s->first.supplied && dae_first_read(s, t, x, p) == DAE_OK)) return;
    s->method->interpolate(s, t, x, p, NULL);
}

void dae_hermite(const dae_solver *s, double t, const double *x_done, const double *p_done,
                 double *x, double *p)
{
    double h = s->t - s->t_previous, c = h != 0 ? (t - s->t_previous) / h : 1;
    double a = c * c * (3 - 2 * c), u = h * c * (1 - c) * (1 - c), v = h * c * c * (c - 1);
    double da = h != 0 ? 6 * c * (1 - c) / h : 0, du = (1 - c) * (1 - 3 * c), dv = c * (3 * c - 2);
    for (int i = 0; i < s->system.n; i++) {
        double from = h != 0 ? x_done[i] : s->x[i], slope = h != 0 ? p_done[i] : s->p[i];
        double to = s->x[i], end = s->p[i]; /* x may be one of our own */
        if (x) x[i] = from + a * (to - from) + u * slope + v * end;
        if (p) p[i] = da * (to - from) + du * slope + dv * end;
    }
}
