/* peer_ida.c: IDA as its manual would have it used for this problem.
 *
 * F(t, x, x') = 0 goes in as it is, M(t, x) x' = f(t, x) as M x' - f. The Jacobian
 * J = F_x + c F_x' is analytic where the problem has one; the matrix is dense, banded or
 * sparse (KLU, AMD ordering) by the problem's pattern. Everything else is IDA's default,
 * except the number of steps, and IDA may end exactly at t1 (stop time) as ours does.
 */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

typedef struct peer {
    const problem_instance *p;
    const dae_problem *f;
    int n;
    dae_pattern_kind kind;     /* of J */
    size_t entries;            /* of J in our layout */
    double *J, *C;             /* entries each */
    sunindextype *start, *row; /* sparse pattern in IDA's integers */

    /* mass form: the entries of M, where they stand in M and in J */
    size_t mass_entries, mass_size;
    int mass_diagonal; /* 1: M[i] is entry (i, i) */
    int *mass_row, *mass_column;
    size_t *mass_from, *mass_to;
    double *M; /* mass_size values */

    char *message;
    SUNContext context;
    N_Vector x, xdot, id;
    SUNMatrix A;
    SUNLinearSolver solver;
    void *ida;
} peer;

/* ------------------------------------------------------------------ layouts ---------- */

static size_t entries_of(const dae_pattern *a, dae_pattern_kind kind, int n)
{
    switch (kind) {
    case DAE_PATTERN_BAND: return (size_t)n * (size_t)(a->lower + a->upper + 1);
    case DAE_PATTERN_SPARSE: return (size_t)a->start[n];
    default: return (size_t)n * (size_t)n;
    }
}

static dae_pattern_kind kind_of(const dae_pattern *a)
{
    return a->kind == DAE_PATTERN_AUTO ? DAE_PATTERN_DENSE : a->kind;
}

/* Position of entry (i, j) in an array laid out by `a`; 0 if the pattern has no such entry. */
static int position(const dae_pattern *a, dae_pattern_kind kind, int n, int i, int j, size_t *where)
{
    switch (kind) {
    case DAE_PATTERN_BAND:
        if (i - j > a->lower || j - i > a->upper) return 0;
        *where = (size_t)(a->upper + i - j) + (size_t)j * (size_t)(a->lower + a->upper + 1);
        return 1;
    case DAE_PATTERN_SPARSE:
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->row[k] == i) {
                *where = (size_t)k;
                return 1;
            }
        return 0;
    default: *where = (size_t)i + (size_t)j * (size_t)n; return 1;
    }
}

static int add_mass_entry(peer *w, int i, int j, size_t from)
{
    size_t k = w->mass_entries++;
    w->mass_row[k] = i;
    w->mass_column[k] = j;
    w->mass_from[k] = from;
    return position(&w->f->pattern, w->kind, w->n, i, j, &w->mass_to[k]);
}

/* Lists the entries of M. Answers 0 when memory is short or J has no room for one. */
static int list_mass(peer *w)
{
    const dae_problem *f = w->f;
    const dae_pattern *a = &f->mass_pattern;
    int n = w->n, fits = 1;
    int diagonal = f->mass_kind == DAE_MASS_IDENTITY || f->mass_kind == DAE_MASS_DIAGONAL;
    dae_pattern_kind kind = kind_of(a);

    w->mass_diagonal = diagonal;
    w->mass_size = diagonal ? (size_t)n : entries_of(a, kind, n);
    w->mass_row = calloc(w->mass_size + 1, sizeof(int));
    w->mass_column = calloc(w->mass_size + 1, sizeof(int));
    w->mass_from = calloc(w->mass_size + 1, sizeof(size_t));
    w->mass_to = calloc(w->mass_size + 1, sizeof(size_t));
    w->M = calloc(w->mass_size + 1, sizeof(double));
    if (!w->mass_row || !w->mass_column || !w->mass_from || !w->mass_to || !w->M) return 0;
    if (f->mass_values) memcpy(w->M, f->mass_values, w->mass_size * sizeof(double));
    for (int j = 0; j < n; j++) {
        if (diagonal) {
            if (f->mass_kind == DAE_MASS_IDENTITY) w->M[j] = 1;
            if (w->M[j] != 0) fits &= add_mass_entry(w, j, j, (size_t)j);
            continue;
        }
        if (kind == DAE_PATTERN_SPARSE) {
            for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
                fits &= add_mass_entry(w, a->row[k], j, (size_t)k);
            continue;
        }
        for (int i = 0; i < n; i++) {
            size_t from;
            if (position(a, kind, n, i, j, &from) &&
                (f->mass_kind == DAE_MASS_FUNCTION || w->M[from] != 0))
                fits &= add_mass_entry(w, i, j, from);
        }
    }
    return fits;
}

/* ------------------------------------------------------------------ callbacks -------- */

/* ours: 0, RETRY, anything else; IDA's: 0, positive = recoverable, negative = not */
static int answer(int status)
{
    return status == DAE_OK ? 0 : status == DAE_RETRY ? 1 : -1;
}

static int mass_values(peer *w, double t, const double *x)
{
    if (w->f->mass_kind != DAE_MASS_FUNCTION) return DAE_OK;
    memset(w->M, 0, w->mass_size * sizeof(double));
    return w->f->mass(t, x, w->M, w->f->user);
}

static int residual(realtype t, N_Vector x, N_Vector xdot, N_Vector r, void *user)
{
    peer *w = user;
    return answer(w->f->residual(t, NV_DATA_S(x), NV_DATA_S(xdot), NV_DATA_S(r), w->f->user));
}

static int mass_residual(realtype t, N_Vector X, N_Vector Xdot, N_Vector R, void *user)
{
    peer *w = user;
    const double *x = NV_DATA_S(X), *xdot = NV_DATA_S(Xdot);
    double *r = NV_DATA_S(R);
    int status = w->f->rhs(t, x, r, w->f->user);
    if (status == DAE_OK) status = mass_values(w, t, x);
    if (status != DAE_OK) return answer(status);
    if (w->mass_diagonal) {
        for (int i = 0; i < w->n; i++) r[i] = w->M[i] * xdot[i] - r[i];
        return 0;
    }
    for (int i = 0; i < w->n; i++) r[i] = -r[i];
    for (size_t k = 0; k < w->mass_entries; k++)
        r[w->mass_row[k]] += w->M[w->mass_from[k]] * xdot[w->mass_column[k]];
    return 0;
}

/* J (zero on entry, our layout) = F_x + c F_x'. For M(t, x) the term with dM/dx is left
 * out: Newton's iteration only needs to be near. */
static int fill(peer *w, double t, const double *x, const double *xdot, double c, double *J)
{
    const dae_problem *f = w->f;
    if (f->jacobian) return f->jacobian(t, x, xdot, c, J, f->user);
    int status = f->jacobian_x(t, x, xdot, J, f->user);
    if (status != DAE_OK) return status;
    if (f->rhs) {
        status = mass_values(w, t, x);
        for (size_t k = 0; k < w->entries; k++) J[k] = -J[k];
        for (size_t k = 0; k < w->mass_entries; k++) J[w->mass_to[k]] += c * w->M[w->mass_from[k]];
        return status;
    }
    memset(w->C, 0, w->entries * sizeof(double));
    status = f->jacobian_xdot(t, x, xdot, w->C, f->user);
    for (size_t k = 0; k < w->entries; k++) J[k] += c * w->C[k];
    return status;
}

static int jacobian(realtype t, realtype c, N_Vector x, N_Vector xdot, N_Vector r, SUNMatrix A,
                    void *user, N_Vector t1, N_Vector t2, N_Vector t3)
{
    (void)r, (void)t1, (void)t2, (void)t3;
    peer *w = user;
    if (w->kind == DAE_PATTERN_DENSE) /* same layout; IDA has zeroed it */
        return answer(fill(w, t, NV_DATA_S(x), NV_DATA_S(xdot), c, SM_DATA_D(A)));

    int width = w->f->pattern.lower + w->f->pattern.upper + 1;
    double *J = w->kind == DAE_PATTERN_SPARSE ? SM_DATA_S(A) : w->J;
    if (w->kind == DAE_PATTERN_BAND) memset(J, 0, w->entries * sizeof(double));
    int status = fill(w, t, NV_DATA_S(x), NV_DATA_S(xdot), c, J);
    if (status != DAE_OK) return answer(status);
    if (w->kind == DAE_PATTERN_SPARSE) {
        memcpy(SM_INDEXPTRS_S(A), w->start, (size_t)(w->n + 1) * sizeof(sunindextype));
        memcpy(SM_INDEXVALS_S(A), w->row, w->entries * sizeof(sunindextype));
        return 0;
    }
    for (int j = 0; j < w->n; j++)
        memcpy(SM_COLUMN_B(A, j) - w->f->pattern.upper, J + (size_t)j * (size_t)width,
               (size_t)width * sizeof(double));
    return 0;
}

static void keep_message(int code, const char *module, const char *function, char *text, void *user)
{
    (void)module, (void)function;
    peer *w = user;
    snprintf(w->message, sizeof((run_result *)0)->message, "IDA %d: %s", code, text);
}

/* ------------------------------------------------------------------ setup ------------ */

static int has_jacobian(const dae_problem *f)
{
    return f->jacobian || (f->jacobian_x && (f->rhs || f->jacobian_xdot));
}

static int make_pattern(peer *w)
{
    const dae_pattern *a = &w->f->pattern;
    w->kind = kind_of(a);
    w->entries = entries_of(a, w->kind, w->n);
    w->J = calloc(w->entries + 1, sizeof(double));
    w->C = calloc(w->entries + 1, sizeof(double));
    if (!w->J || !w->C) return 0;
    if (w->kind != DAE_PATTERN_SPARSE) return 1;
    w->start = calloc((size_t)w->n + 1, sizeof(sunindextype));
    w->row = calloc(w->entries + 1, sizeof(sunindextype));
    if (!w->start || !w->row) return 0;
    for (int j = 0; j <= w->n; j++) w->start[j] = (sunindextype)a->start[j];
    for (size_t k = 0; k < w->entries; k++) w->row[k] = (sunindextype)a->row[k];
    return 1;
}

static int make_solver(peer *w)
{
    const dae_pattern *a = &w->f->pattern;
    sunindextype n = w->n;
    switch (w->kind) {
    case DAE_PATTERN_BAND:
        w->A = SUNBandMatrix(n, a->upper, a->lower, w->context);
        w->solver = SUNLinSol_Band(w->x, w->A, w->context);
        break;
    case DAE_PATTERN_SPARSE:
        w->A = SUNSparseMatrix(n, n, (sunindextype)w->entries, CSC_MAT, w->context);
        w->solver = SUNLinSol_KLU(w->x, w->A, w->context);
        if (w->solver) SUNLinSol_KLUSetOrdering(w->solver, 0); /* AMD */
        break;
    default:
        w->A = SUNDenseMatrix(n, n, w->context);
        w->solver = SUNLinSol_Dense(w->x, w->A, w->context);
    }
    if (!w->A || !w->solver || IDASetLinearSolver(w->ida, w->solver, w->A) != IDA_SUCCESS) return 0;
    if (has_jacobian(w->f)) return IDASetJacFn(w->ida, jacobian) == IDA_SUCCESS;
    return w->kind != DAE_PATTERN_SPARSE; /* IDA differences dense and band by itself */
}

/* x'(t0) is not given: IDA finds it, and needs to know which unknowns are differential. */
static int find_derivative(peer *w)
{
    const problem_instance *p = w->p;
    double *id = NV_DATA_S(w->id);
    for (int j = 0; j < w->n; j++) id[j] = w->f->level ? w->f->level[j] == DAE_DIFFERENTIAL : 0;
    if (!w->f->level && w->f->rhs)
        for (size_t k = 0; k < w->mass_entries; k++) id[w->mass_column[k]] = 1;
    if (!w->f->level && !w->f->rhs)
        for (int j = 0; j < w->n; j++) id[j] = 1;
    if (IDASetId(w->ida, w->id) != IDA_SUCCESS) return 0;
    double h = 1e-6 * (p->t1 - p->t0);
    return IDACalcIC(w->ida, IDA_YA_YDP_INIT, p->t0 + h) == IDA_SUCCESS &&
           IDAGetConsistentIC(w->ida, w->x, w->xdot) == IDA_SUCCESS;
}

static int open_peer(peer *w, double rtol, double atol)
{
    const problem_instance *p = w->p;
    if (!make_pattern(w) || (w->f->rhs && !list_mass(w))) return 0;
    if (SUNContext_Create(NULL, &w->context) != 0) return 0;
    w->x = N_VNew_Serial(w->n, w->context);
    w->xdot = N_VNew_Serial(w->n, w->context);
    w->id = N_VNew_Serial(w->n, w->context);
    w->ida = IDACreate(w->context);
    if (!w->x || !w->xdot || !w->id || !w->ida) return 0;
    memcpy(NV_DATA_S(w->x), p->x0, (size_t)w->n * sizeof(double));
    N_VConst(0, w->xdot);
    if (p->xdot0) memcpy(NV_DATA_S(w->xdot), p->xdot0, (size_t)w->n * sizeof(double));
    IDASetErrHandlerFn(w->ida, keep_message, w);
    IDASetUserData(w->ida, w);
    if (IDAInit(w->ida, w->f->rhs ? mass_residual : residual, p->t0, w->x, w->xdot) !=
            IDA_SUCCESS ||
        IDASStolerances(w->ida, rtol, atol) != IDA_SUCCESS || !make_solver(w))
        return 0;
    IDASetMaxNumSteps(w->ida, 10000000);
    if (!p->xdot0 && !find_derivative(w)) return 0;
    return IDASetStopTime(w->ida, p->t1) == IDA_SUCCESS;
}

static void close_peer(peer *w)
{
    IDAFree(&w->ida);
    if (w->solver) SUNLinSolFree(w->solver);
    if (w->A) SUNMatDestroy(w->A);
    N_VDestroy(w->x);
    N_VDestroy(w->xdot);
    N_VDestroy(w->id);
    SUNContext_Free(&w->context);
    free(w->J);
    free(w->C);
    free(w->start);
    free(w->row);
    free(w->mass_row);
    free(w->mass_column);
    free(w->mass_from);
    free(w->mass_to);
    free(w->M);
}

static void read_statistics(const peer *w, run_result *r)
{
    long linear_residuals = 0;
    IDAGetNumSteps(w->ida, &r->steps);
    IDAGetNumErrTestFails(w->ida, &r->rejected);
    IDAGetNumStepSolveFails(w->ida, &r->newton_failures);
    IDAGetNumResEvals(w->ida, &r->residuals);
    IDAGetNumLinResEvals(w->ida, &linear_residuals);
    r->residuals += linear_residuals;
    IDAGetNumJacEvals(w->ida, &r->jacobians);
    IDAGetNumLinSolvSetups(w->ida, &r->factorizations);
    IDAGetNumNonlinSolvIters(w->ida, &r->iterations);
}

/* ------------------------------------------------------------------ the run ---------- */

static int takes(const problem_instance *p)
{
    return (p->problem.residual && !p->problem.d) || p->problem.rhs;
}

static void run(const problem_instance *p, double rtol, double atol, double *x, run_result *result)
{
    peer w = { .p = p, .f = &p->problem, .n = p->problem.size, .message = result->message };
    memset(result, 0, sizeof *result);
    if (open_peer(&w, rtol, atol)) {
        double t;
        int status = IDASolve(w.ida, p->t1, &t, w.x, w.xdot, IDA_NORMAL);
        result->ok = status >= 0;
        memcpy(x, NV_DATA_S(w.x), (size_t)w.n * sizeof(double));
    } else if (!result->message[0]) {
        snprintf(result->message, sizeof result->message, "IDA could not be set up");
    }
    if (w.ida) read_statistics(&w, result);
    close_peer(&w);
}

const peer_solver peer_ida = { .name = "ida", .highest_index = 1, .takes = takes, .run = run };
