/* exercises.c: the exercises on constraints and minimal velocities of the multibody notes
 * (1.1 to 1.9), answered by numbers. The words are in docs/exercises.md; 5.1, 5.2 and
 * what belongs to integration in exercises_dae.c.
 *
 * When is a constraint of velocities holonomic? Frobenius: the distribution of velocities
 * N = null(W) is integrable if and only if dA(X, Y) = 0 for all X, Y in N and every row
 * A, where
 *     dA(X, Y) = d/ds [A(q + s X) Y - A(q + s Y) X]  at s = 0.
 * `curvature` is the largest of these over an orthonormal basis of N.
 */
#include "exercises.h"

#include "linear/lapack.h"
#include "constraint/mechanism.h"

#include <math.h>
#include <string.h>

enum { MOST = 8, WORK = 512 };

static const double pi = 3.14159265358979323846;

/* ---- matrices of the collection's mechanisms ---- */

typedef struct bench {
    problem_instance p;
    dae_mechanism *m;
    const double *q, *v;
} bench;

static int bench_open(verdicts *v, bench *b, const char *name, const char *setting, double value)
{
    const problem_setting set = { .name = setting, .value = value };
    if (study_problem(problem_find(name), "index0", &set, setting ? 1 : 0, &b->p, NULL) != DAE_OK) {
        fprintf(v->out, "    problem '%s' cannot be used  %s\n", name, verdict(v, 0));
        return 0;
    }
    b->m = b->p.problem.user;
    b->q = b->p.x0;
    b->v = b->p.x0 + b->m->n;
    return 1;
}

/* An orthonormal basis of null(W), W of full rank m x n by columns; singular values in
 * s. */
static int null_space(const double *W, int m, int n, double *N, double *s)
{
    double a[MOST * MOST], vt[MOST * MOST], work[WORK];
    int info, room = WORK;
    memcpy(a, W, (size_t)(m * n) * sizeof *a);
    dgesvd_("N", "A", &m, &n, a, &m, s, NULL, &m, vt, &n, work, &room, &info);
    for (int k = m; k < n; k++)
        for (int j = 0; j < n; j++) N[j + (k - m) * n] = vt[k + j * n];
    return info == 0 ? n - m : -1;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* d/ds A_k(q + s X) Y by central differences of fourth order. */
static double along(bench *b, int k, const double *X, const double *Y)
{
    int n = b->m->n, m = b->m->m;
    double q[MOST], W[MOST * MOST], sum = 0, h = 1e-3;
    static const double at[4] = { -2, -1, 1, 2 }, weight[4] = { 1, -8, 8, -1 };
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < n; j++) q[j] = b->q[j] + at[i] * h * X[j];
        dae_mech_matrix(b->m, 0, q, W);
        for (int j = 0; j < n; j++) sum += weight[i] * W[k + j * m] * Y[j] / (12 * h);
    }
    return sum;
}

static double curvature(bench *b)
{
    int n = b->m->n, m = b->m->m;
    double W[MOST * MOST], N[MOST * MOST], s[MOST], most = 0;
    dae_mech_matrix(b->m, 0, b->q, W);
    int freedom = null_space(W, m, n, N, s);
    for (int k = b->m->h; k < m; k++)
        for (int i = 0; i < freedom; i++)
            for (int j = 0; j < i; j++) {
                const double *X = N + i * n, *Y = N + j * n;
                most = fmax(most, fabs(along(b, k, X, Y) - along(b, k, Y, X)));
            }
    return most;
}

/* ---- 1.1, 1.2: rolling ---- */

static void rolling(verdicts *v)
{
    static const struct {
        const char *name, *setting;
        double value;
        int holonomic;
    } cases[] = { { "rolling-disc", NULL, 0, 1 },
                  { "rolling-coin", NULL, 0, 0 },
                  { "knife-edge", NULL, 0, 0 },
                  { "marble", "plate", 0, 0 } };
    fprintf(v->out, "\n1.1, 1.2  Rolling: the largest dA(X, Y) over velocities X, Y that the "
                    "constraints allow\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench b;
        if (!bench_open(v, &b, cases[i].name, cases[i].setting, cases[i].value)) continue;
        double c = curvature(&b);
        fprintf(v->out, "    %-13s %d coordinates, %d velocities free: %8.1e  %s: %s\n",
                cases[i].name, b.m->n, b.m->n - b.m->m, c,
                cases[i].holonomic ? "holonomic" : "not holonomic",
                verdict(v, cases[i].holonomic ? c < 1e-9 : c > 0.1));
        problem_close(&b.p);
    }
}

/* The ball without spin, its centre led once round a circle of radius r = ratio R. */
static int ball_rhs(double t, const double *p, double *f, void *user)
{
    double r = *(const double *)user, o[2] = { -r * cos(t), -r * sin(t) };
    f[0] = (-p[1] * o[0] - p[2] * o[1]) / 2;
    f[1] = (p[0] * o[0] + p[3] * o[1]) / 2;
    f[2] = (-p[3] * o[0] + p[0] * o[1]) / 2;
    f[3] = (p[2] * o[0] - p[1] * o[1]) / 2;
    return DAE_OK;
}

/* In the frame that goes round with the centre omega is constant: the ball comes back
 * turned by 2 pi sqrt(1 + ratio^2), and |p0| is the cosine of half of that. */
static void loops(verdicts *v)
{
    fprintf(v->out, "    The centre once round a circle of radius r: the ball comes back "
                    "turned by (degrees)\n");
    for (double ratio = 0.25; ratio < 5; ratio *= 2) {
        const dae_problem problem = { .size = 4, .rhs = ball_rhs, .user = &ratio };
        double p[4] = { 1, 0, 0, 0 };
        dae_solver *s = study_open(&problem, &(dae_options){ .method = "radau", .rtol = 1e-10 });
        int good = dae_start(s, 0, p, NULL) == DAE_OK && dae_advance(s, 2 * pi) == DAE_OK &&
                   dae_read(s, 2 * pi, p, NULL) == DAE_OK;
        dae_close(s);
        double theory = fabs(cos(pi * sqrt(1 + ratio * ratio)));
        double got = fmin(fabs(p[0]) / sqrt(dot(p, p, 4)), 1);
        fprintf(v->out, "        r = %4.2f R: %10.6f, theory %10.6f  %s\n", ratio,
                360 / pi * acos(got), 360 / pi * acos(theory),
                verdict(v, good && fabs(got - theory) < 1e-8 && theory < 0.999));
    }
}

/* x - R phi along a run that knows only x' = R phi'. */
static void disc_run(verdicts *v)
{
    problem_instance p;
    if (study_problem(problem_find("rolling-disc"), "index2", NULL, 0, &p, NULL) != DAE_OK) return;
    double x[MOST] = { 0 };
    dae_solver *s = study_open(&p.problem, &(dae_options){ .rtol = 1e-8, .atol = 1e-8 });
    int good = dae_start(s, p.t0, p.x0, p.xdot0) == DAE_OK && dae_advance(s, p.t1) == DAE_OK &&
               dae_read(s, p.t1, x, NULL) == DAE_OK;
    dae_close(s);
    double off = x[0] - 0.5 * x[1] - (p.x0[0] - 0.5 * p.x0[1]);
    fprintf(v->out,
            "    rolling-disc at the end: x = %.6f and x - R phi - const = %.1e: "
            "it has integrated itself  %s\n",
            x[0], off, verdict(v, good && fabs(x[0]) > 1 && fabs(off) < 1e-8));
    problem_close(&p);
}

/* ---- 1.3: T e + t satisfies the constraint of velocities ---- */

static int next_choice(int *pick, int m, int n)
{
    for (int i = m - 1; i >= 0; i--)
        if (pick[i] < n - m + i) {
            pick[i]++;
            for (int j = i + 1; j < m; j++) pick[j] = pick[j - 1] + 1;
            return 1;
        }
    return 0;
}

/* W v + rate for v with omitted columns `pick` solved for, the others e; NaN: singular.
 * */
static double complied(const double *W, const double *rate, int m, int n, const int *pick)
{
    double B[MOST * MOST], v[MOST], most = 0, rhs[MOST];
    int omitted[MOST] = { 0 }, pivots[MOST], one = 1, info;
    for (int i = 0; i < m; i++) {
        omitted[pick[i]] = 1;
        memcpy(B + i * m, W + pick[i] * m, (size_t)m * sizeof *B);
    }
    for (int j = 0; j < n; j++) v[j] = omitted[j] ? 0 : 1 + 0.3 * j; /* e */
    for (int i = 0; i < m; i++) {
        rhs[i] = -rate[i];
        for (int j = 0; j < n; j++) rhs[i] -= W[i + j * m] * v[j];
    }
    dgetrf_(&m, &m, B, &m, pivots, &info);
    for (int i = 0; i < m; i++)
        if (fabs(B[i + i * m]) < 1e-8) return NAN;
    dgetrs_("N", &m, &one, B, &m, pivots, rhs, &m, &info, 1);
    for (int i = 0; i < m; i++) v[pick[i]] = rhs[i];
    double size = 0;
    for (int i = 0; i < m; i++) {
        double c = rate[i];
        for (int j = 0; j < n; j++) {
            c += W[i + j * m] * v[j];
            size = fmax(size, fabs(W[i + j * m] * v[j]));
        }
        most = fmax(most, fabs(c));
    }
    return most / size;
}

static void partitions(verdicts *v)
{
    static const char *const names[] = { "n-pendulum", "andrews", "four-bar", "marble" };
    fprintf(v->out, "\n1.3  v = T e + t of (17): the largest |W v + phi_t| over all choices "
                    "of the omitted coordinates\n");
    for (int i = 0; i < 4; i++) {
        bench b;
        if (!bench_open(v, &b, names[i], NULL, 0)) continue;
        int n = b.m->n, m = b.m->m, pick[MOST], regular = 0, singular = 0;
        double q[MOST], W[MOST * MOST], rate[MOST], most = 0, size = 0;
        for (int j = 0; j < n; j++) /* away from zeros by symmetry */
            q[j] = b.q[j] + 0.1 * sin(j + 1.0);
        dae_mech_matrix(b.m, 0, q, W);
        dae_mech_rate(b.m, 0, q, rate);
        for (int k = 0; k < m; k++) {
            pick[k] = k;
            size = fmax(size, fabs(rate[k]));
        }
        do {
            double c = complied(W, rate, m, n, pick);
            if (isnan(c))
                singular++;
            else {
                regular++;
                most = fmax(most, c);
            }
        } while (next_choice(pick, m, n));
        fprintf(v->out,
                "    %-11s |phi_t| %.1f; %2d of %2d choices regular; relative residual "
                "%.1e  %s\n",
                names[i], size, regular, regular + singular, most,
                verdict(v, regular > 0 && most < 1e-14));
        problem_close(&b.p);
    }
}

/* ---- 1.5: Q1 R1^-T is the pseudo-inverse ---- */

/* C (r x c) = A (r x k) B (k x c) */
static void times(const double *A, const double *B, int r, int k, int c, double *C)
{
    for (int i = 0; i < r; i++)
        for (int j = 0; j < c; j++) {
            C[i + j * r] = 0;
            for (int l = 0; l < k; l++) C[i + j * r] += A[i + l * r] * B[l + j * k];
        }
}

static double apart(const double *A, const double *B, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(A[i] - B[i]));
    return most;
}

static double asymmetry(const double *A, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) most = fmax(most, fabs(A[i + j * n] - A[j + i * n]));
    return most;
}

/* X (n x m) = Q1 R1^-T for W' = Q1 R1 by Gram and Schmidt, twice. */
static void inverse(const double *W, int m, int n, double *X)
{
    double Q[MOST * MOST], R[MOST * MOST] = { 0 };
    for (int j = 0; j < m; j++) {
        double *q = Q + j * n;
        for (int i = 0; i < n; i++) q[i] = W[j + i * m];
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < j; k++) {
                double c = dot(Q + k * n, q, n);
                R[k + j * m] += c;
                for (int i = 0; i < n; i++) q[i] -= c * Q[k * n + i];
            }
        R[j + j * m] = sqrt(dot(q, q, n));
        for (int i = 0; i < n; i++) q[i] /= R[j + j * m];
    }
    for (int i = 0; i < n; i++) /* rows of X: X R' = Q1 */
        for (int j = m - 1; j >= 0; j--) {
            double sum = Q[i + j * n];
            for (int k = j + 1; k < m; k++) sum -= X[i + k * n] * R[j + k * m];
            X[i + j * n] = sum / R[j + j * m];
        }
}

static void pseudo_inverse(verdicts *v)
{
    static const char *const names[] = { "n-pendulum", "andrews", "four-bar", "marble" };
    fprintf(v->out,
            "\n1.5  X = Q1 R1^-T: Penrose's four conditions, largest entries\n"
            "    %-11s %9s %9s %9s %9s\n",
            "", "WXW - W", "XWX - X", "WX - sym", "XW - sym");
    for (int i = 0; i < 4; i++) {
        bench b;
        if (!bench_open(v, &b, names[i], NULL, 0)) continue;
        int n = b.m->n, m = b.m->m;
        double W[MOST * MOST], X[MOST * MOST], WX[MOST * MOST], XW[MOST * MOST];
        double WXW[MOST * MOST], XWX[MOST * MOST];
        dae_mech_matrix(b.m, 0, b.q, W);
        inverse(W, m, n, X);
        times(W, X, m, n, m, WX);
        times(X, W, n, m, n, XW);
        times(WX, W, m, m, n, WXW);
        times(XW, X, n, n, m, XWX);
        double zero[MOST * MOST] = { 0 }, w = apart(W, zero, m * n), x = apart(X, zero, n * m);
        double c[4] = { apart(WXW, W, m * n) / w, apart(XWX, X, n * m) / x, asymmetry(WX, m),
                        asymmetry(XW, n) };
        double most = fmax(fmax(c[0], c[1]), fmax(c[2], c[3]));
        fprintf(v->out, "    %-11s %9.1e %9.1e %9.1e %9.1e  %s\n", names[i], c[0], c[1], c[2], c[3],
                verdict(v, most < 1e-13));
        problem_close(&b.p);
    }
}

/* ---- 1.9: eigenvectors of W'W against singular vectors of W ---- */

/* W = [1 0 0; 1 d 0] H with the reflection H = 1 - 2 u u' / u'u: its null space is H
 * e3. */
static void nearly_dependent(double d, double W[6], double null[3])
{
    static const double u[3] = { 1, 2, 3 };
    double row[2][3] = { { 1, 0, 0 }, { 1, d, 0 } }, uu = dot(u, u, 3);
    for (int j = 0; j < 3; j++) null[j] = (j == 2) - 2 * u[2] * u[j] / uu;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) W[i + 2 * j] = row[i][j] - 2 * dot(row[i], u, 3) * u[j] / uu;
}

/* The sine of the angle between unit vectors. */
static double angle(const double *a, const double *b)
{
    double sign = dot(a, b, 3) < 0 ? -1 : 1, d[3];
    for (int i = 0; i < 3; i++) d[i] = a[i] - sign * b[i];
    return sqrt(dot(d, d, 3));
}

static void squared(verdicts *v)
{
    fprintf(v->out,
            "\n1.9  Constraints dependent up to d: error of the null vector\n"
            "    %-8s%-22s%-22s\n",
            "d", "singular vectors of W", "eigenvectors of W'W");
    for (double d = 1e-2; d > 1e-11; d *= 1e-2) {
        double W[6], null[3], N[3], s[2], K[9], w[3], work[64];
        int three = 3, info, room = 64;
        nearly_dependent(d, W, null);
        null_space(W, 2, 3, N, s);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) K[i + 3 * j] = dot(W + 2 * i, W + 2 * j, 2);
        dsyev_("V", "U", &three, K, &three, w, work, &room, &info, 1, 1);
        double svd = angle(N, null), eigen = angle(K, null);
        /* eps / d and eps / d^2, until nothing is left: a vector between the two */
        double eps = 2.2e-16;
        int good =
            svd < 30 * eps / d && (d > 1e-3 || eigen > 10 * svd) && (d > 1e-9 || eigen > 0.01);
        fprintf(v->out, "    %-8.0e%-22.1e%-22.1e %s\n", d, svd, eigen, verdict(v, good));
    }
}

static int reproduce(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out, "Exercises 1.1 to 1.9, 5.1 and 5.2 of the multibody notes, and 5.3.1, "
                 "5.3.3; derivations: docs/exercises.md\n");
    rolling(&v);
    disc_run(&v);
    loops(&v);
    exercises_knife(&v);
    partitions(&v);
    exercises_partition(&v);
    pseudo_inverse(&v);
    exercises_null_space(&v);
    squared(&v);
    exercises_dae(&v);
    exercises_friction(&v);
    return verdict_total(&v);
}

const reproduction reproduction_exercises = {
    .id = "exercises",
    .title = "exercises on constraints: rolling, minimal velocities, index, Baumgarte",
    .source = "Mantegazza & Masarati, notes on systems of DAEs (2012), sections 1 and 5",
    .run = reproduce,
};
