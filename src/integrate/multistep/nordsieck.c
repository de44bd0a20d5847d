/* nordsieck.c: backward differentiation of order 1 to 4 in Nordsieck's form.
 *
 * The past of w = (x, computed d) is the polynomial pi through w_n, ..., w_{n-k}, kept as
 *
 *     z_j = h^j / j! pi^(j)(t_n),   j = 0 .. k                          [Nordsieck 1962]
 *
 * A new step size scales, z_j (h_new / h)^j; the prediction is z^P = P z with Pascal's matrix,
 * P_ij = binomial(j, i): w_pred = z^P_0, h w'_pred = z^P_1. Then, as in bdf.c,
 *
 *     f(t, x, p) = 0,   p = p_pred + c (d(x) - d_pred),   c = (1 + 1/2 + ... + 1/k) / h,
 *
 * and the polynomial through the new point is pi + e Lambda, e = w - w_pred,
 *
 *     Lambda(t) = prod_{i<k} (t - t_{n-i}) / (t_{n+1} - t_{n-i}) = sum l_j ((t - t_{n+1}) / h)^j:
 *
 * z = z^P + l e. On an even mesh the l are the constants of the tables (l_1 = 1 + ... + 1/k);
 * with the true ones on every mesh z remains a view of the same history as that of bdf.c, and
 * the same steps give the same solution. (With the constants pi would no longer pass through the
 * old points after a change of the step: another method, and the less stable one.)
 *
 * One order less: the term of degree k is taken out as a multiple of prod_{i<k} (t - t_{n-i}).
 * One more: e Lambda (t - t_n) / psi_k comes in.
 *
 * Milne's estimate. Where w^(k+1) is constant the prediction misses w(t_{n+1}) by P, the corrected
 * value by P (1 - S / H), H = 1 + ... + 1/k, S = sum_{i<=k} h / (t_{n+1} - t_{n-i}). So the error
 * is (1 - H / S) e; on an even mesh e / ((k + 1) H + 1). It goes through filter.c. The step is
 *
 *     h_new = c h (1 / |error|)^(1 / (k + 1)),   c = 0.9,
 *
 * for whichever order makes it largest; changes below a fifth are not made.
 */
#include "integrate/multistep/nordsieck.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "integrate/error/filter.h"

#include <math.h>
#include <string.h>

enum { MAX_ORDER = 4, ROWS = MAX_ORDER + 1 };

typedef struct nordsieck {
    int width; /* n + computed */
    double *vectors;
    double *z[ROWS], h; /* the array and its step */
    double *e;          /* of the last step */
    int degree;
    int have_e;           /* 1: e is a difference of the next higher degree */
    int first;            /* 1: no step yet */
    double psi[ROWS + 1]; /* t_n - t_{n-1-i} */
    int steady;           /* steps since size or order last changed */
    int rejected, young;

    /* of the attempt */
    double *Z[ROWS]; /* predicted array */
    int genuine;     /* 1: its last row is more than zero */
    double psi_new[ROWS + 1], milne[ROWS + 1];
    double *p_pred, *E, *v; /* v: 3 n */
    double error[3];        /* at orders k - 1, k, k + 1; INFINITY: not known */
} nordsieck;

static const double harmonic[] = { 0, 1, 1.5, 11.0 / 6, 25.0 / 12, 137.0 / 60 };
static const double SAFETY = 0.9, WORTHWHILE = 1.2;

/* Horner's scheme: the factor of q_j+1 ... is (h tau + psi_{j-1}) / psi_j. */
void dae_newton_to_nordsieck(int k, const double *psi, double h, double *q)
{
    for (int j = k - 1; j >= 0; j--) {
        double root = j > 0 ? psi[j - 1] / psi[j] : 0, slope = h / psi[j], phi = q[j];
        /* the polynomial so far is in q[j + 1 .. k], its constant first */
        q[j] = phi + root * q[j + 1];
        for (int i = j + 1; i < k; i++) q[i] = slope * q[i] + root * q[i + 1];
        q[k] *= slope;
    }
}

/* ---- opening ---- */

static void nordsieck_close(dae_solver *s)
{
    nordsieck *b = s->method_state;
    if (!b) return;
    dae_free(&s->memory, b->vectors);
    dae_free(&s->memory, b);
    s->method_state = NULL;
}

static dae_status nordsieck_open(dae_solver *s)
{
    nordsieck *b = dae_alloc(&s->memory, 1, sizeof *b);
    s->method_state = b;
    if (!b) return DAE_E_NOMEM;
    b->width = s->system.n + s->system.computed;
    size_t width = (size_t)b->width, n = (size_t)s->system.n, m = (size_t)s->system.m;
    dae_vector_wish wish[] = { { &b->z[0], ROWS * width },
                               { &b->Z[0], ROWS * width },
                               { &b->e, width },
                               { &b->p_pred, m },
                               { &b->E, m },
                               { &b->v, 3 * n } };
    b->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!b->vectors) return DAE_E_NOMEM;
    for (int j = 1; j < ROWS; j++) {
        b->z[j] = b->z[0] + (size_t)j * width;
        b->Z[j] = b->Z[0] + (size_t)j * width;
    }
    return DAE_OK;
}

static void nordsieck_start(dae_solver *s)
{
    nordsieck *b = s->method_state;
    int n = s->system.n, computed = s->system.computed;
    memset(b->z[0], 0, ROWS * (size_t)b->width * sizeof(double));
    memcpy(b->z[0], s->x, (size_t)n * sizeof(double));
    if (computed) memcpy(b->z[0] + n, s->d, (size_t)computed * sizeof(double));
    memcpy(computed ? b->z[1] + n : b->z[1], s->p, (size_t)s->system.m * sizeof(double));
    for (int i = 0; i < computed && (s->system.facts & DAE_FACT_D_SELECTS); i++)
        b->z[1][s->system.slot[i]] = s->p[i];
    b->h = b->psi[0] = 1;
    b->degree = b->first = 1;
    b->have_e = b->steady = b->rejected = b->young = 0;
    s->order = 1;
}

/* Divided differences of the past points, then to derivatives. */
static dae_status nordsieck_history(dae_solver *s, int count, const double *t, const double *x)
{
    nordsieck *b = s->method_state;
    int n = s->system.n, k = count - 1;
    nordsieck_start(s);
    if (count < 2) return DAE_OK;
    memset(b->z[0], 0, ROWS * (size_t)b->width * sizeof(double));
    for (int j = 0; j < count; j++) {
        memcpy(b->z[j], x + (size_t)j * (size_t)n, (size_t)n * sizeof(double));
        if (!s->system.computed) continue;
        int status = dae_system_d(&s->system, t[j], b->z[j], b->z[j] + n);
        if (status != DAE_OK) return status < 0 ? (dae_status)status : DAE_E_NONFINITE;
    }
    for (int j = 1; j < count; j++) b->psi[j - 1] = t[0] - t[j];
    for (int i = 0; i < b->width; i++) {
        double q[ROWS], product = 1;
        for (int j = 0; j < count; j++) q[j] = b->z[j][i];
        for (int level = 1; level < count; level++)
            for (int j = k; j >= level; j--) q[j] = (q[j - 1] - q[j]) / (t[j - level] - t[j]);
        for (int j = 1; j < count; j++) q[j] *= product *= b->psi[j - 1];
        dae_newton_to_nordsieck(k, b->psi, b->psi[0], q);
        for (int j = 0; j < count; j++) b->z[j][i] = q[j];
    }
    b->h = b->psi[0];
    b->degree = s->order = k;
    b->first = 0;
    return DAE_OK;
}

/* ---- one attempt ---- */

/* Coefficients of prod_{i < count} (tau + root_i), lowest first; count + 1 numbers. */
static void expand(int count, const double *root, double *q)
{
    memset(q, 0, (ROWS + 1) * sizeof(double));
    q[0] = 1;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j >= 0; j--) q[j] = root[i] * q[j] + (j > 0 ? q[j - 1] : 0);
}

/* l: Lambda in powers of (t - t_n) / h, its zeros at t_n - psi_i. */
static void make_l(int k, const double *psi, double h, double *l)
{
    double root[ROWS + 1] = { 0 }, scale = 1;
    for (int i = 0; i < k; i++) {
        root[i] = psi[i] / h;
        scale *= h / psi[i];
    }
    expand(k, root, l);
    for (int j = 0; j <= k; j++) l[j] *= scale;
}

/* Z := the array at degree k, in the old step. */
static void adapt(nordsieck *b, int k)
{
    double l[ROWS + 1], root[ROWS + 1] = { 0 };
    size_t width = (size_t)b->width;
    int q = b->degree;
    memcpy(b->Z[0], b->z[0], (size_t)(q + 1) * width * sizeof(double));
    b->genuine = k <= q || b->have_e;
    if (k > q) {
        memset(b->Z[k], 0, width * sizeof(double));
        make_l(q, b->psi, b->h, l);
        double scale = b->have_e ? b->h / b->psi[q] : 0;
        for (int j = 1; j <= k && b->have_e; j++)
            for (size_t i = 0; i < width; i++) b->Z[j][i] += scale * l[j - 1] * b->e[i];
    }
    for (; q > k; q--) {
        for (int i = 1; i < q; i++) root[i] = b->psi[i - 1] / b->h;
        expand(q, root, l);
        for (int j = 1; j < q; j++)
            for (size_t i = 0; i < width; i++) b->Z[j][i] -= l[j] * b->Z[q][i];
    }
}

/* Scaling and Pascal's matrix, by additions. */
static void predict(nordsieck *b, double h, int k)
{
    size_t width = (size_t)b->width;
    double ratio = h / b->h, power = 1;
    adapt(b, k);
    for (int j = 1; j <= k && ratio != 1; j++) {
        power *= ratio;
        for (size_t i = 0; i < width; i++) b->Z[j][i] *= power;
    }
    for (int from = 0; from < k; from++)
        for (int j = k - 1; j >= from; j--)
            for (size_t i = 0; i < width; i++) b->Z[j][i] += b->Z[j + 1][i];
}

/* The times, and Milne's factor (1 - H / S) of every order up to k + 1. On a strange mesh it can
 * vanish: what it is on an even one, up to the ratio of steps, is the least that is believed. */
static void set_times(nordsieck *b, double h, int k)
{
    double S = 1;
    b->psi_new[0] = h;
    for (int i = 1; i <= k + 1 && i < ROWS + 1; i++) {
        b->psi_new[i] = b->psi[i - 1] + h;
        S += h / b->psi_new[i];
        b->milne[i] = fmax(fabs(1 - harmonic[i] / S), h / b->psi_new[i] / S);
    }
}

/* E: the error in d at order k + which, -1, 0 or 1. */
static void error_in_d(const dae_solver *s, nordsieck *b, const dae_trial *trial, int which)
{
    int k = trial->order, from = s->system.computed ? s->system.n : 0;
    const double *e = s->system.computed ? trial->e_d : trial->e, *other = NULL;
    double factor = 0, milne = b->milne[k + which];
    if (which < 0) {
        other = b->Z[k];
        factor = 1;
        for (int i = 0; i < k; i++) factor *= b->psi_new[i] / trial->h;
    } else if (which > 0) {
        other = b->e;
        factor = -trial->h / b->psi[k];
        for (int i = 0; i < k; i++) factor *= b->psi_new[i + 1] / b->psi[i];
    }
    for (int i = 0; i < s->system.m; i++)
        b->E[i] = milne * (other ? e[i] + factor * other[from + i] : e[i]);
}

static int judge(dae_solver *s, nordsieck *b, dae_trial *trial)
{
    int n = s->system.n, k = trial->order, count = 0, status = DAE_OK, which[3] = { 0 }, where;
    int ripe = b->steady > k || b->young < 4;
    which[count++] = 0;
    if (k > 1) which[count++] = -1;
    if (ripe && k < s->options.max_order && b->have_e && b->degree == k) which[count++] = 1;
    for (int l = 0; l < count && status == DAE_OK; l++) {
        error_in_d(s, b, trial, which[l]);
        status = dae_filter_side(s, trial, b->E, b->v + (size_t)l * (size_t)n);
    }
    if (status == DAE_OK) status = dae_filter_solve(s, b->v, count);
    if (status != DAE_OK) return status;
    b->error[0] = b->error[2] = INFINITY;
    for (int l = 0; l < count; l++) {
        double *v = b->v + (size_t)l * (size_t)n;
        for (int i = 0; b->first && i < n; i++) /* of their past nothing is known */
            if (s->system.level[i] != DAE_DIFFERENTIAL) v[i] = 0;
        b->error[1 + which[l]] = dae_norm(s->options.norm, n, v, s->w_error, &where);
        if (l == 0) trial->limiting = where;
    }
    trial->filtered = 1;
    trial->error = b->error[1];
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static int nordsieck_attempt(dae_solver *s, dae_trial *trial)
{
    nordsieck *b = s->method_state;
    int n = s->system.n, k = trial->order, from = s->system.computed ? n : 0;
    double h = trial->h;
    if (b->first) b->psi[0] = h; /* as if a step of the same size had come before */
    set_times(b, h, k);
    predict(b, h, k);
    for (int i = 0; i < s->system.m; i++) b->p_pred[i] = b->Z[1][from + i] / h;
    dae_stage g = { .t = trial->t,
                    .c = harmonic[k] / h,
                    .h = h,
                    .x_pred = b->Z[0],
                    .p_pred = b->p_pred,
                    .d_pred = b->Z[0] + n,
                    .x = trial->x,
                    .p = trial->p,
                    .e = trial->e,
                    .d = trial->d,
                    .e_d = trial->e_d,
                    .w = s->w,
                    .w_d = s->system.computed ? s->w_d : NULL };
    int status = dae_corrector_solve(&s->corrector, &g);
    trial->constant = b->milne[k];
    return status != DAE_OK || trial->prescribed ? status : judge(s, b, trial);
}

/* ---- after the attempt ---- */

static double growth(double error, int k)
{
    return k < 1 ? 0 : SAFETY * pow(fmax(error, 1e-12), -1.0 / (k + 1));
}

/* The order that allows the largest step; small changes of the step are not worth the factors. */
static void plan(dae_solver *s, nordsieck *b, const dae_trial *trial)
{
    int k = trial->order, ripe = b->steady > k || b->young < 4;
    double r = growth(b->error[1], k), down = growth(b->error[0], k - 1);
    double up = growth(b->error[2], k + 1);
    s->order = k;
    s->h = trial->h;
    if (up > r && up > down) {
        s->order = k + 1;
        r = up;
    } else if (down > WORTHWHILE * r) {
        s->order = k - 1;
        r = down;
    }
    if (b->rejected) r = fmin(r, 1);
    if (r >= WORTHWHILE && ripe)
        s->h = trial->h * fmin(r, b->young < 8 ? 8 : 2);
    else if (r < 0.9)
        s->h = trial->h * fmax(r, 0.5);
}

static void nordsieck_commit(dae_solver *s, dae_trial *trial)
{
    nordsieck *b = s->method_state;
    size_t n = (size_t)s->system.n, computed = (size_t)s->system.computed;
    int k = trial->order;
    double l[ROWS + 1];
    int same = !b->first && fabs(trial->h - b->h) <= 1e-9 * fabs(trial->h) && k == b->degree;
    b->steady = same ? b->steady + 1 : 1;
    if (!trial->prescribed) plan(s, b, trial);
    make_l(k, b->psi_new, trial->h, l);
    memcpy(b->e, trial->e, n * sizeof(double));
    if (computed) memcpy(b->e + n, trial->e_d, computed * sizeof(double));
    for (int j = 1; j <= k; j++)
        for (size_t i = 0; i < n + computed; i++) b->z[j][i] = b->Z[j][i] + l[j] * b->e[i];
    memcpy(b->z[0], trial->x, n * sizeof(double)); /* bit for bit */
    if (computed) memcpy(b->z[0] + n, trial->d, computed * sizeof(double));
    memcpy(b->psi, b->psi_new, (size_t)(k + 1) * sizeof(double));
    b->h = trial->h;
    b->degree = k;
    b->have_e = b->genuine;
    b->first = b->rejected = 0;
    b->young++;
}

static void nordsieck_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    nordsieck *b = s->method_state;
    int k = trial->order;
    b->rejected = 1;
    b->young = 100; /* no more haste */
    s->h = 0.25 * trial->h;
    if (verdict != DAE_STEP_ERROR) {
        if ((verdict == DAE_STEP_NONFINITE || verdict == DAE_STEP_RETRY) && k > 1) s->order = k - 1;
        return;
    }
    if (s->error_failures > 2) {
        s->order = 1;
        return;
    }
    double r = growth(b->error[1], k), down = growth(b->error[0], k - 1);
    if (down > r) s->order = k - 1;
    s->h = trial->h * fmax(0.1, fmin(0.9, fmax(r, down)));
}

/* ---- dense output and views ---- */

static void nordsieck_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    const nordsieck *b = s->method_state;
    int n = s->system.n, from = s->system.computed ? n : 0, k = b->degree;
    double tau = (t - s->t) / b->h;
    for (int i = 0; i < b->width; i++) {
        double value = b->z[k][i], slope = 0;
        for (int j = k - 1; j >= 0; j--) {
            slope = slope * tau + value;
            value = value * tau + b->z[j][i];
        }
        if (x && i < n) x[i] = value;
        if (d && i >= n) d[i - n] = value;
        if (p && i >= from) p[i - from] = slope / b->h;
    }
}

static int nordsieck_reach(dae_solver *s)
{
    const nordsieck *b = s->method_state;
    return b->first ? 1 : b->degree < MAX_ORDER ? b->degree + 1 : MAX_ORDER;
}

static int nordsieck_view(dae_solver *s, double h, double *z)
{
    const nordsieck *b = s->method_state;
    size_t n = (size_t)s->system.n;
    double power = 1;
    for (int j = 0; j <= b->degree; j++, power *= h / b->h)
        for (size_t i = 0; i < n; i++) z[(size_t)j * n + i] = power * b->z[j][i];
    return b->degree;
}

const dae_method dae_method_nordsieck = {
    .name = "nordsieck",
    .description = "backward differentiation, order 1-4, Nordsieck's form, Milne's estimate",
    .movable = 1,
    .max_order = MAX_ORDER,
    .open = nordsieck_open,
    .close = nordsieck_close,
    .start = nordsieck_start,
    .start_history = nordsieck_history,
    .attempt = nordsieck_attempt,
    .commit = nordsieck_commit,
    .reject = nordsieck_reject,
    .interpolate = nordsieck_interpolate,
    .between = DAE_BETWEEN_POLYNOMIAL,
    .ahead = 1,
    .reach = nordsieck_reach,
    .nordsieck = nordsieck_view,
};
