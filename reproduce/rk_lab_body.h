/* rk_lab_body.h: the laboratory in one precision; no header of its own:
 * rk_lab_double.c and rk_lab_quad.c include it with REAL and LAB(name) defined.
 *
 * The stages are X_i = (Y_i, Z_i), n = ny + nz unknowns each:
 *
 *     Y_i = y_n + h sum_j a_ij f(X_j)                                         (2.1a)
 *     h g(X_i) = eps sum_j w_ij (Z_j - z_n),   w = A^-1                       (2.6b)
 *
 * eps = 0 makes the second line 0 = g(X_i), (2.7b) and (2.9b). If the first row of A is
 * zero (Lobatto IIIA, ESDIRK) the first stage is X_1 = x_n and the others follow; such a
 * method must be stiffly accurate to be of use, and z_{n+1} = Z_s.
 */

/* The rounding unit, found by trying: the same source for every format. */
static REAL unit(void)
{
    REAL e = 1;
    volatile REAL sum = 1 + e / 2;
    while (sum > 1) {
        e /= 2;
        sum = 1 + e / 2;
    }
    return e;
}

REAL LAB(lab_abs)(REAL x)
{
    return x < 0 ? -x : x;
}

/* Taylor's series of exp(x / 16), to the 16th power. */
REAL LAB(lab_exp)(REAL x)
{
    REAL sum = 1, term = 1, small = x / 16;
    for (int k = 1; k < 40; k++) {
        term *= small / (REAL)k;
        sum += term;
    }
    sum *= sum;
    sum *= sum;
    sum *= sum;
    return sum * sum;
}

/* ---- dense linear systems ---- */

int LAB(lab_factor)(int n, REAL *m, int *pivot)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (LAB(lab_abs)(m[i + k * n]) > LAB(lab_abs)(m[best + k * n])) best = i;
        pivot[k] = best;
        if (m[best + k * n] == 0 || m[best + k * n] != m[best + k * n]) return 0;
        for (int j = 0; j < n; j++) {
            REAL swap = m[k + j * n];
            m[k + j * n] = m[best + j * n];
            m[best + j * n] = swap;
        }
        for (int i = k + 1; i < n; i++) m[i + k * n] /= m[k + k * n];
        for (int j = k + 1; j < n; j++)
            if (m[k + j * n] != 0)
                for (int i = k + 1; i < n; i++) m[i + j * n] -= m[i + k * n] * m[k + j * n];
    }
    return 1;
}

void LAB(lab_solve)(int n, const REAL *m, const int *pivot, REAL *v)
{
    for (int k = 0; k < n; k++) {
        REAL swap = v[k];
        v[k] = v[pivot[k]];
        v[pivot[k]] = swap;
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) v[i] -= m[i + k * n] * v[k];
    for (int k = n - 1; k >= 0; k--) {
        v[k] /= m[k + k * n];
        for (int i = 0; i < k; i++) v[i] -= m[i + k * n] * v[k];
    }
}

/* ---- problems ---- */

static REAL power(REAL x, int e)
{
    REAL p = 1;
    for (int i = 0; i < e; i++) p *= x;
    return p;
}

void LAB(lab_value)(const lab_problem *p, const REAL *x, REAL *f)
{
    int n = p->ny + p->nz;
    for (int i = 0; i < n; i++) f[i] = 0;
    for (int k = 0; k < p->terms; k++) {
        REAL m = (REAL)p->term[k].c;
        for (int i = 0; i < n; i++) m *= power(x[i], p->term[k].e[i]);
        f[p->term[k].row] += m;
    }
}

void LAB(lab_jacobian)(const lab_problem *p, const REAL *x, REAL *J)
{
    int n = p->ny + p->nz;
    for (int i = 0; i < n * n; i++) J[i] = 0;
    for (int k = 0; k < p->terms; k++)
        for (int j = 0; j < n; j++) {
            const int *e = p->term[k].e;
            REAL m = (REAL)p->term[k].c * (REAL)e[j];
            for (int i = 0; i < n && e[j] > 0; i++) m *= power(x[i], i == j ? e[i] - 1 : e[i]);
            J[p->term[k].row + j * n] += m;
        }
}

void LAB(lab_exact)(const lab_problem *p, REAL t, REAL *x)
{
    for (int i = 0; i < p->ny + p->nz; i++) x[i] = LAB(lab_exp)((REAL)p->rate[i] * t);
}

/* ---- the method in this precision ---- */

typedef struct method {
    int s, skip; /* skip: 1 if the first stage is x_n */
    int invertible, stiffly_accurate;
    REAL A[DAE_STAGES_MOST][DAE_STAGES_MOST], b[DAE_STAGES_MOST], c[DAE_STAGES_MOST];
    REAL w[DAE_STAGES_MOST][DAE_STAGES_MOST];
    REAL d[DAE_STAGES_MOST]; /* b' A^-1: z_{n+1} = (1 - sum d) z_n + sum d_i Z_i */
} method;

static void take(const dae_tableau *t, method *m)
{
    lab_facts f;
    lab_look(t, &f);
    *m = (method){ .s = f.s,
                   .skip = f.explicit_first,
                   .invertible = f.invertible,
                   .stiffly_accurate = f.stiffly_accurate };
    for (int i = 0; i < m->s; i++) {
        m->b[i] = (REAL)t->b[i];
        m->c[i] = (REAL)t->c[i];
        for (int j = 0; j < m->s; j++) {
            m->A[i][j] = (REAL)t->A[i][j];
            m->w[i][j] = (REAL)f.w[i][j];
        }
    }
    for (int j = 0; j < m->s; j++)
        for (int i = 0; i < m->s; i++) m->d[j] += m->b[i] * m->w[i][j];
}

/* ---- Newton ---- */

typedef struct equation {
    const lab_run *r;
    const method *m;
    const REAL *x; /* x_n; or where the projection begins */
} equation;

/* A system F(u) = 0: fills F and the entries of its Jacobian, columns one after
 * another. */
typedef void assemble(const equation *e, const REAL *u, REAL *F, REAL *J);

static REAL largest(int n, const REAL *v)
{
    REAL most = 0;
    for (int i = 0; i < n; i++)
        if (!(LAB(lab_abs)(v[i]) <= most)) most = LAB(lab_abs)(v[i]);
    return most;
}

/* Until the corrections no longer shrink and are of the size of rounding. */
static int newton(const equation *e, assemble *fill, int size, REAL *u)
{
    REAL J[LAB_SIZE * LAB_SIZE], F[LAB_SIZE], before = 0;
    REAL goal = 4096 * unit() * (1 + largest(size, u));
    int pivot[LAB_SIZE];
    for (int k = 0; k < 30; k++) {
        for (int i = 0; i < size * size; i++) J[i] = 0;
        fill(e, u, F, J);
        if (!LAB(lab_factor)(size, J, pivot)) return 0;
        LAB(lab_solve)(size, J, pivot, F);
        for (int i = 0; i < size; i++) u[i] -= F[i];
        REAL now = largest(size, F);
        if (!(now < 1e6)) return 0;
        /* quadratic: the next correction would be rounding alone */
        if (1024 * now * now <= goal / 4096 || (now <= goal && k > 0 && now >= before / 2))
            return 1;
        before = now;
    }
    return 0;
}

/* ---- one step ---- */

/* Rows of stage i: the y of (2.1a), the z of (2.6b) or 0 = g. */
static void fill_stage(const equation *e, const REAL *u, const REAL *f, const REAL *fx, REAL *F,
                       REAL *J, int i)
{
    const lab_problem *p = e->r->problem;
    const method *m = e->m;
    int n = p->ny + p->nz, first = i * n, size = n * m->s;
    REAL h = (REAL)e->r->h, eps = (REAL)e->r->eps;
    for (int k = 0; k < p->ny; k++) {
        int row = first + k;
        F[row] = u[row] - e->x[k];
        J[row + row * size] = 1;
        for (int j = 0; j < m->s; j++) {
            F[row] -= h * m->A[i][j] * f[j * n + k];
            for (int l = 0; l < n; l++)
                J[row + (j * n + l) * size] -= h * m->A[i][j] * fx[j * n * n + k + l * n];
        }
    }
    for (int k = p->ny; k < n; k++) {
        int row = first + k;
        F[row] = f[row];
        for (int l = 0; l < n; l++) J[row + (first + l) * size] = fx[i * n * n + k + l * n];
        for (int j = 0; e->r->perturbed && j < m->s; j++) {
            F[row] -= eps / h * m->w[i][j] * (u[j * n + k] - e->x[k]);
            J[row + (j * n + k) * size] -= eps / h * m->w[i][j];
        }
    }
}

static void fill_stages(const equation *e, const REAL *u, REAL *F, REAL *J)
{
    const lab_problem *p = e->r->problem;
    int n = p->ny + p->nz, s = e->m->s, size = n * s;
    REAL f[LAB_SIZE], fx[LAB_SIZE * LAB_UNKNOWNS];
    for (int i = 0; i < s; i++) {
        LAB(lab_value)(p, u + i * n, f + i * n);
        LAB(lab_jacobian)(p, u + i * n, fx + i * n * n);
    }
    for (int i = 0; i < s; i++)
        if (i == 0 && e->m->skip)
            for (int k = 0; k < n; k++) {
                F[k] = u[k] - e->x[k];
                J[k + k * size] = 1;
            }
        else
            fill_stage(e, u, f, fx, F, J, i);
}

/* (3.11a): y = y~ + f_z(x~) mu with g(y) = 0. */
static void fill_projection(const equation *e, const REAL *mu, REAL *F, REAL *J)
{
    const lab_problem *p = e->r->problem;
    int ny = p->ny, nz = p->nz, n = ny + nz;
    REAL at[LAB_UNKNOWNS * LAB_UNKNOWNS], fx[LAB_UNKNOWNS * LAB_UNKNOWNS];
    REAL x[LAB_UNKNOWNS], f[LAB_UNKNOWNS];
    LAB(lab_jacobian)(p, e->x, at);
    for (int i = 0; i < n; i++) x[i] = e->x[i];
    for (int i = 0; i < ny; i++)
        for (int k = 0; k < nz; k++) x[i] += at[i + (ny + k) * n] * mu[k];
    LAB(lab_value)(p, x, f);
    LAB(lab_jacobian)(p, x, fx);
    for (int r = 0; r < nz; r++) {
        F[r] = f[ny + r];
        for (int k = 0; k < nz; k++)
            for (int i = 0; i < ny; i++) J[r + k * nz] += fx[ny + r + i * n] * at[i + (ny + k) * n];
    }
}

/* (3.11b): g_y(y) f(y, z) = 0 for z. */
static void fill_hidden(const equation *e, const REAL *z, REAL *F, REAL *J)
{
    const lab_problem *p = e->r->problem;
    int ny = p->ny, nz = p->nz, n = ny + nz;
    REAL fx[LAB_UNKNOWNS * LAB_UNKNOWNS], x[LAB_UNKNOWNS], f[LAB_UNKNOWNS];
    for (int i = 0; i < n; i++) x[i] = i < ny ? e->x[i] : z[i - ny];
    LAB(lab_value)(p, x, f);
    LAB(lab_jacobian)(p, x, fx);
    for (int r = 0; r < nz; r++) {
        F[r] = 0;
        for (int i = 0; i < ny; i++) {
            F[r] += fx[ny + r + i * n] * f[i];
            for (int k = 0; k < nz; k++) J[r + k * nz] += fx[ny + r + i * n] * fx[i + (ny + k) * n];
        }
    }
}

/* (2.7e): g(y, z) = 0 for z. */
static void fill_algebraic(const equation *e, const REAL *z, REAL *F, REAL *J)
{
    const lab_problem *p = e->r->problem;
    int ny = p->ny, nz = p->nz, n = ny + nz;
    REAL fx[LAB_UNKNOWNS * LAB_UNKNOWNS], x[LAB_UNKNOWNS], f[LAB_UNKNOWNS];
    for (int i = 0; i < n; i++) x[i] = i < ny ? e->x[i] : z[i - ny];
    LAB(lab_value)(p, x, f);
    LAB(lab_jacobian)(p, x, fx);
    for (int r = 0; r < nz; r++) {
        F[r] = f[ny + r];
        for (int k = 0; k < nz; k++) J[r + k * nz] = fx[ny + r + (ny + k) * n];
    }
}

/* y_{n+1} by the quadrature formula, z_{n+1} by (2.7d) = (2.9e); x: from old to new. */
static void finish(const lab_problem *p, const method *m, REAL h, const REAL *u, REAL *x)
{
    int n = p->ny + p->nz;
    REAL f[LAB_UNKNOWNS], old[LAB_UNKNOWNS];
    for (int k = 0; k < n; k++) old[k] = x[k];
    for (int i = 0; i < m->s; i++) {
        LAB(lab_value)(p, u + i * n, f);
        for (int k = 0; k < p->ny; k++) x[k] += h * m->b[i] * f[k];
        for (int k = p->ny; k < n && m->invertible; k++) x[k] += m->d[i] * (u[i * n + k] - old[k]);
    }
    for (int k = p->ny; k < n && !m->invertible; k++) x[k] = u[(m->s - 1) * n + k];
}

static int project(const lab_run *r, REAL *x)
{
    const lab_problem *p = r->problem;
    equation e = { .r = r, .x = x };
    REAL mu[LAB_UNKNOWNS] = { 0 }, J[LAB_UNKNOWNS * LAB_UNKNOWNS];
    int n = p->ny + p->nz;
    if (!newton(&e, fill_projection, p->nz, mu)) return 0;
    LAB(lab_jacobian)(p, x, J);
    for (int i = 0; i < p->ny; i++)
        for (int k = 0; k < p->nz; k++) x[i] += J[i + (p->ny + k) * n] * mu[k];
    return newton(&e, fill_hidden, p->nz, x + p->ny);
}

static int step(const lab_run *r, const method *m, REAL *x)
{
    const lab_problem *p = r->problem;
    REAL u[LAB_SIZE];
    int n = p->ny + p->nz;
    equation e = { .r = r, .m = m, .x = x };
    for (int i = 0; i < m->s * n; i++) u[i] = x[i % n];
    if (!newton(&e, fill_stages, m->s * n, u)) return 0;
    finish(p, m, (REAL)r->h, u, x);
    if (r->form == LAB_PROJECTED) return project(r, x);
    if (r->form == LAB_STATE_SPACE) return newton(&e, fill_algebraic, p->nz, x + p->ny);
    return 1;
}

/* ---- collocation ---- */

/* u(x_n + tau h) = y_n + sum_k u_k tau^k, k = 1 .. s, and v likewise, of degree s, or
 * s - 1 when a node is 0: there v(x_n) = z_n is the collocation condition already.
 * Unknowns: the coefficients, k outermost. */
static int coefficients(const lab_problem *p, const method *m, int k)
{
    return k < m->s || m->c[0] != 0 ? p->ny + p->nz : p->ny;
}

static void evaluate(const equation *e, const REAL *u, REAL tau, REAL *x, REAL *slope)
{
    const lab_problem *p = e->r->problem;
    int n = p->ny + p->nz;
    for (int i = 0; i < n; i++) x[i] = e->x[i], slope[i] = 0;
    REAL before = 1;
    for (int k = 1; k <= e->m->s; k++, before *= tau)
        for (int i = 0; i < coefficients(p, e->m, k); i++) {
            x[i] += u[(k - 1) * n + i] * before * tau;
            slope[i] += u[(k - 1) * n + i] * before * (REAL)k;
        }
}

static void fill_collocation(const equation *e, const REAL *u, REAL *F, REAL *J)
{
    const lab_problem *p = e->r->problem;
    const method *m = e->m;
    int n = p->ny + p->nz, row = 0, size = n * (m->s - 1) + coefficients(p, m, m->s);
    REAL h = (REAL)e->r->h;
    for (int c = 0; c < m->s; c++) {
        REAL x[LAB_UNKNOWNS], slope[LAB_UNKNOWNS], f[LAB_UNKNOWNS];
        REAL fx[LAB_UNKNOWNS * LAB_UNKNOWNS];
        evaluate(e, u, m->c[c], x, slope);
        LAB(lab_value)(p, x, f);
        LAB(lab_jacobian)(p, x, fx);
        int rows = m->c[c] != 0 ? n : p->ny;
        for (int i = 0; i < rows; i++, row++) {
            int differential = i < p->ny;
            F[row] = differential ? slope[i] - h * f[i] : f[i];
            REAL before = 1;
            for (int k = 1; k <= m->s; k++, before *= m->c[c])
                for (int j = 0; j < coefficients(p, m, k); j++) {
                    REAL move = fx[i + j * n] * before * m->c[c];
                    REAL *entry = &J[row + ((k - 1) * n + j) * size];
                    *entry = differential ? -h * move : move;
                    if (differential && i == j) *entry += before * (REAL)k;
                }
        }
    }
}

static int collocate(const lab_run *r, const method *m, REAL *x)
{
    const lab_problem *p = r->problem;
    int n = p->ny + p->nz, size = n * (m->s - 1) + coefficients(p, m, m->s);
    REAL u[LAB_SIZE] = { 0 }, next[LAB_UNKNOWNS], slope[LAB_UNKNOWNS];
    equation e = { .r = r, .m = m, .x = x };
    if (!newton(&e, fill_collocation, size, u)) return 0;
    evaluate(&e, u, 1, next, slope);
    for (int i = 0; i < n; i++) x[i] = next[i];
    return 1;
}

/* ---- runs ---- */

int LAB(lab_march)(const lab_run *r, REAL *x)
{
    method m;
    take(r->table, &m);
    if (!m.invertible && !m.skip && r->problem->nz > 0 && r->form != LAB_COLLOCATION) return 0;
    int good = 1;
    for (int i = 0; i < r->steps && good; i++)
        good = r->form == LAB_COLLOCATION ? collocate(r, &m, x) : step(r, &m, x);
    return good;
}

lab_error LAB(lab_error)(const lab_run *r)
{
    const lab_problem *p = r->problem;
    REAL x[LAB_UNKNOWNS], end[LAB_UNKNOWNS];
    lab_error e = { 0, 0 };
    LAB(lab_exact)(p, (REAL)r->t0, x);
    LAB(lab_exact)(p, (REAL)r->t0 + (REAL)r->h * (REAL)r->steps, end);
    if (!LAB(lab_march)(r, x)) return (lab_error){ NAN, NAN };
    for (int i = 0; i < p->ny + p->nz; i++) end[i] -= x[i];
    e.y = (double)largest(p->ny, end);
    e.z = (double)largest(p->nz, end + p->ny);
    return e;
}

double LAB(lab_difference)(const lab_run *one, const lab_run *other)
{
    REAL x[LAB_UNKNOWNS], y[LAB_UNKNOWNS];
    int n = one->problem->ny + one->problem->nz;
    LAB(lab_exact)(one->problem, (REAL)one->t0, x);
    LAB(lab_exact)(other->problem, (REAL)other->t0, y);
    if (!LAB(lab_march)(one, x) || !LAB(lab_march)(other, y)) return NAN;
    for (int i = 0; i < n; i++) x[i] -= y[i];
    return (double)largest(n, x);
}
