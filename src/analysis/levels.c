/* levels.c: one differentiation more, until x' is known.
 *
 * At every level k the curve is moved to satisfy R_0 = 0 .. R_k = 0 (Gauss-Newton: the smallest
 * change of c_0, then of c_1, .., that satisfies the linearized array), and the ranks of the array
 * are read there. For a regular problem the number of constraints on x grows with every level
 * until there are no hidden ones left, and one level later x' is determined: that level is the
 * differential index. A level that adds no constraint, and does not determine x', is
 * followed by no better one: the problem is singular.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

enum { SHRINKINGS = 40, MOST_ROWS = 8000 };
/* Units that differ by more than half of all digits: beside one unknown another may not be seen. */
static const double wild = 1e8;

static dae_status rough(dae_analysis *a)
{
    dae_fail(&a->report, DAE_E_NONFINITE,
             "the equations are not smooth near the point of analysis");
    dae_at(&a->report, "t = %.10g", a->series.t);
    dae_why(&a->report, "over a time of %.3g their Jacobians are no power series to ten digits",
            a->series.H);
    dae_hint(&a->report, "start from a point away from jumps, corners and singularities");
    return DAE_E_NONFINITE;
}

static dae_status find_time_scale(dae_analysis *a)
{
    int answer = DAE_RETRY;
    for (int k = 0; k < SHRINKINGS && answer == DAE_RETRY; k++) {
        if (k > 0) dae_series_stretch(&a->series, 0.25);
        answer = dae_look_along(a);
    }
    return answer == DAE_RETRY ? rough(a) : (dae_status)answer;
}

/* ---- linear, constant ---- */

static int same_matrices(const dae_series *s, const double *A, const double *B, double unit)
{
    size_t n = (size_t)s->n;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double scale = s->row[i] * s->column[j] / unit, one = scale * A[i + j * n];
            if (fabs(one - scale * B[i + j * n]) > 1e-9 * fmax(fabs(one), 1)) return 0;
        }
    return 1;
}

/* Are F_x and F_x' the same elsewhere? */
static int classify(dae_analysis *a)
{
    dae_series *s = &a->series;
    dae_equations *e = &a->equations;
    size_t n = (size_t)s->n, square = n * n;
    double *block = dae_alloc(&a->memory, 4 * square, sizeof *block);
    if (!block) return dae_analysis_no_memory(a, "the Jacobians");
    double *J[2][2] = { { block, block + square }, { block + 2 * square, block + 3 * square } };
    int answer = DAE_OK;
    const double part = 0.07;
    for (int side = 0; side < 2 && answer == DAE_OK; side++) {
        for (size_t i = 0; i < n; i++) {
            double away = side * part * (1 + sin(7. * (double)i + 1) / 3);
            double x = s->column[i] * s->c[i], v = s->column[i] * s->c[n + i] / s->H;
            e->x_curve[i] = x + away * fmax(fabs(x), e->unit[i]);
            e->v_curve[i] = v + away * fmax(fabs(v), e->unit[i]);
        }
        e->rough = dae_equations_cost(e); /* what is linear, is so by two points as well */
        answer = dae_equations_jacobian(e, s->t, e->x_curve, e->v_curve, J[side][0], J[side][1]);
        e->rough = 0;
    }
    a->facts.linear = answer == DAE_OK;
    for (size_t k = 0; k < 2 * square && answer == DAE_OK; k++)
        a->units.sway[k] = fabs(J[1][0][k] - J[0][0][k]) / part;
    if (answer == DAE_OK) {
        a->mass_constant = same_matrices(s, J[0][1], J[1][1], s->H);
        a->facts.linear = a->mass_constant && same_matrices(s, J[0][0], J[1][0], 1);
    }
    a->facts.varying = s->varying;
    a->facts.constant = a->facts.linear && s->varying == 0;
    dae_free(&a->memory, block);
    return answer == DAE_RETRY ? DAE_OK : answer;
}

/* ---- one level ---- */

static dae_status not_consistent(dae_analysis *a, int level, int answer)
{
    char name[32];
    const dae_series *s = &a->series;
    size_t worst = 0, count = (size_t)(s->order + 1) * (size_t)s->n;
    for (size_t i = 1; i < count; i++)
        if (fabs(s->R[i]) > fabs(s->R[worst])) worst = i;
    int row = (int)(worst % (size_t)s->n), times = (int)(worst / (size_t)s->n);
    if (answer == DAE_E_CONVERGENCE) {
        dae_fail(&a->report, DAE_E_CONVERGENCE, "a singular value decomposition did not converge");
        dae_at(&a->report, "t = %.10g, derivatives up to %d", s->t, level);
        return DAE_E_CONVERGENCE;
    }
    dae_fail(&a->report, DAE_E_INCONSISTENT, "no consistent point was found for the analysis");
    dae_at(&a->report, "t = %.10g, %s%s%s", s->t,
           dae_equation_name(&a->equations.system, row, name), times ? ", differentiated" : "",
           times > 1 ? " several times" : "");
    dae_why(&a->report, "where the search ended %.3g is left of it (scaled)", fabs(s->R[worst]));
    dae_hint(&a->report, "start nearer to values that satisfy the equations and their derivatives");
    return DAE_E_INCONSISTENT;
}

/* A level that ends the search is looked at again with samples of its own curve. */
static int could_be_last(const dae_analysis *a, int level)
{
    const dae_index_facts *f = &a->facts;
    return a->array.rank[1] == f->size || level == a->options.highest ||
           (level > 0 && a->array.rank[0] == f->known[level - 1]);
}

/* The curve in units of the user and of time, which neither scaling nor H change, kept in
 * `derivatives`; and back. */
static void keep_curve(dae_analysis *a, int back)
{
    dae_series *s = &a->series;
    size_t n = (size_t)s->n;
    double power = 1;
    for (int j = 0; j <= DAE_MOST_SERIES; j++, power *= s->H)
        for (size_t i = 0; i < n; i++) {
            double *kept = &a->derivatives[(size_t)j * n + i], *c = &s->c[(size_t)j * n + i];
            if (back)
                *c = *kept * power / s->column[i];
            else
                *kept = *c * s->column[i] / power;
        }
}

/* With rough or old samples; with good and new ones, from the same curve, if those lead nowhere */
static int settle_level(dae_analysis *a)
{
    double H = a->series.H;
    keep_curve(a, 0);
    int answer = dae_settle(a, 0);
    if (a->facts.linear || (answer != DAE_RETRY && answer != DAE_E_INCONSISTENT)) return answer;
    dae_series_stretch(&a->series, H / a->series.H);
    keep_curve(a, 1);
    return dae_settle(a, 1);
}

/* Time scale made smaller where the longer curve shows that it must be. */
static dae_status run_level(dae_analysis *a, int level)
{
    dae_status status = dae_series_extend(&a->series, level, &a->memory);
    dae_rank weakest = a->array.svd.weakest, near = a->array.svd.near;
    double gap = a->array.svd.gap;
    int rank[DAE_MOST_SERIES + 1], known = level > 0 ? a->array.rank[0] : -1;
    memcpy(rank, a->array.rank, sizeof rank);
    dae_array_close(&a->array, &a->memory);
    if (status == DAE_OK)
        status = dae_array_open(&a->array, a->series.n, level, a->facts.tolerance, &a->memory);
    if (status != DAE_OK) return dae_analysis_no_memory(a, "the derivative array");
    a->array.svd.weakest = weakest;
    a->array.svd.gap = gap;
    a->array.svd.near = near;
    a->array.constraints = known;
    for (int j = 2; j <= level + 1 && a->series.few; j++) /* one differentiation later */
        a->array.expected[j] = rank[j - 1];
    a->array.tolerance = a->facts.tolerance = fmax(a->facts.tolerance, 10 * a->series.noise);
    int answer = settle_level(a);
    if (answer == DAE_OK && could_be_last(a, level) && !a->facts.linear) answer = dae_settle(a, 1);
    a->exactly = a->facts.linear;
    for (int k = 0; k < SHRINKINGS / 2 && answer == DAE_RETRY; k++) {
        dae_series_stretch(&a->series, 0.5);
        answer = dae_look_along(a);
        if (answer == DAE_OK) answer = dae_settle(a, 1);
    }
    if (answer == DAE_RETRY) return rough(a);
    if (answer != DAE_OK && a->report.status == DAE_OK) return not_consistent(a, level, answer);
    return (dae_status)answer;
}

/* ---- the levels ---- */

static void singular(dae_analysis *a, int redundant)
{
    dae_index_facts *f = &a->facts;
    f->redundant = redundant;
    f->contradiction = f->linear && a->array.contradiction > 1e-6;
    f->why = f->contradiction
                 ? "some equations contradict others or their derivatives"
                 : "some unknowns are determined by nothing: further derivatives say nothing new";
}

static void read_level(dae_analysis *a, int level)
{
    dae_index_facts *f = &a->facts;
    f->known[level] = a->array.rank[0];
    f->levels = level;
    if (a->array.rank[1] == f->size) f->index = level;
}

/* 1: no level beyond this one is needed. */
static int last_level(dae_analysis *a, int level, int extra)
{
    dae_index_facts *f = &a->facts;
    if (f->index >= 0) return 1;
    if (level > 0 && f->known[level] == f->known[level - 1]) {
        singular(a, a->array.left - a->array.rank[0] - extra);
        return 1;
    }
    if (level == a->options.highest)
        f->why = "there are hidden constraints beyond the highest level that was tried";
    return level == a->options.highest;
}

static int too_large(dae_analysis *a, int level)
{
    if ((level + 1) * (int64_t)a->series.n <= MOST_ROWS) return 0;
    dae_fail(&a->report, DAE_E_LIMIT, "the problem is too large for this analysis");
    dae_why(&a->report, "%d unknowns, %d differentiations: more than %d dense rows", a->series.n,
            level, MOST_ROWS);
    dae_hint(&a->report, "analyze a smaller instance of the same kind (grid, number of links)");
    return 1;
}

/* All levels again, at the point where everything holds: what is a constraint, and since when. The
 * Jacobians of linear equations are the same everywhere. */
static dae_status count_again(dae_analysis *a)
{
    dae_index_facts *f = &a->facts;
    int known = 0, top = f->levels;
    if (f->linear) return DAE_OK;
    dae_svd_forget(&a->array.svd);
    a->array.forced = 0;
    a->array.constraints = -1;
    for (int j = 0; j <= DAE_MOST_SERIES; j++) a->array.expected[j] = -1;
    f->index = -1;
    for (int level = 0; level <= top; level++) {
        if (dae_array_eliminate(&a->array, &a->series, level) != 0)
            return not_consistent(a, level, DAE_E_CONVERGENCE);
        read_level(a, level);
        dae_constraints_add(a, known, level);
        a->array.constraints = known = f->known[level];
    }
    if (f->index >= 0) {
        f->why = NULL;
        f->redundant = f->contradiction = 0;
    }
    return DAE_OK;
}

/* The size of the terms that equation i and its derivatives are sums of, 1 at least: what remains
 * of the equation is judged beside it. */
static double term_size(const dae_series *s, size_t i)
{
    size_t n = (size_t)s->n;
    double size = 1;
    for (int q = 0; q <= s->order + 1; q++)
        for (size_t j = 0; j < n; j++) {
            double entry = fabs(s->K[i + j * n]) + q * fabs(s->C[i + j * n]);
            size = fmax(size, entry * fabs(s->c[(size_t)q * n + j]));
        }
    return size;
}

static void read_point(dae_analysis *a)
{
    const dae_series *s = &a->series;
    dae_index_facts *f = &a->facts;
    size_t n = (size_t)s->n;
    double unit = 1;
    for (int j = 0; j <= s->order + 1; j++, unit *= j / s->H)
        for (size_t i = 0; i < n; i++)
            a->derivatives[(size_t)j * n + i] = unit * s->column[i] * s->c[(size_t)j * n + i];
    f->moved_most = -1;
    for (size_t i = 0; i < n; i++) {
        double change = fabs(a->derivatives[i] - a->x_start[i]);
        double noise = 1e-9 * (fabs(a->x_start[i]) + s->column[i]);
        if (change > noise && change > f->moved) {
            f->moved = change;
            f->moved_most = (int)i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        double size = term_size(s, i);
        for (int q = 0; q <= s->order; q++)
            f->residual = fmax(f->residual, fabs(s->R[(size_t)q * n + i]) / size);
    }
    f->time_scale = s->H;
}

/* F_x' is the same elsewhere; and along the curve? */
static int mass_stays(const dae_analysis *a)
{
    const dae_series *s = &a->series;
    size_t square = (size_t)s->n * (size_t)s->n;
    for (size_t k = square; k < (size_t)(s->order + 2) * square && !a->facts.constant; k++)
        if (s->C[k] != 0) return 0;
    return 1;
}

/* Not at a consistent point. Only of linear equations this says that there is none: with others
 * the iteration may have ended elsewhere. */
static int astray(const dae_analysis *a)
{
    return a->facts.residual > 1e-6 && !a->facts.contradiction;
}

/* Decisions were close; or made in rows that had to be multiplied by much more than the scale of
 * time explains; or in noise. Answers why, NULL: nothing of the kind. */
static const char *doubt(const dae_analysis *a)
{
    const dae_rank *r = &a->array.svd.weakest;
    if (a->array.svd.gap < 1e3 || r->dropped > 1e-5 || r->kept < 10 * a->facts.tolerance)
        return "kept and dropped singular values are close to each other";
    if (a->array.svd.near.rows > 0)
        return "a singular value is near the tolerance: another tolerance, another rank";
    if (a->facts.index < 0 && (a->closer || dae_units_spread(a) > wild))
        return "entries are of very different size: a rank may be hidden by larger ones";
    if (a->hides)
        return "an equation has terms so small that rounding hides them beside the others";
    return NULL;
}

/* Parts that are quicker than the scale of time by the tolerance: with a larger one they are
 * constraints. */
static void compare_times(dae_analysis *a)
{
    dae_svd *d = &a->array.svd;
    double quick = a->series.rank_time / a->series.calm, tolerance = a->options.tolerance;
    int n = a->facts.size;
    if (d->near.rows == 0 && quick > 1e-2 * tolerance && quick < 30 * tolerance)
        d->near = (dae_rank){ .rows = n, .columns = n, .rank = n, .kept = quick };
}

static void say_doubts(dae_analysis *a)
{
    dae_index_facts *f = &a->facts;
    compare_times(a);
    a->hides = dae_units_hidden(a);
    const char *why = doubt(a);
    f->ambiguous = why || astray(a);
    if (a->array.svd.near.rows > 0 && a->array.svd.gap >= 1e3) f->weakest = a->array.svd.near;
    if (astray(a))
        f->why = "no consistent point was found, and ranks are those of where the search ended";
    else if (!f->why)
        f->why = why;
}

static void conclude(dae_analysis *a)
{
    dae_index_facts *f = &a->facts;
    f->regular = f->index >= 0;
    f->strangeness = f->regular ? 0 : -1; /* the first level that knows all constraints */
    while (f->regular && f->known[f->strangeness] < a->array.rank[0]) f->strangeness++;
    f->constraints = a->array.rank[0];
    f->freedom = f->size - f->constraints;
    if (!f->regular) {
        int tangent = dae_array_tangent(&a->array, &a->series);
        f->freedom = tangent > 0 ? tangent : 0;
        if (f->levels > 0 && f->known[f->levels] == f->known[f->levels - 1])
            f->undetermined = f->size - f->constraints - f->freedom;
    }
    f->weakest = a->array.svd.weakest;
    say_doubts(a);
    f->varying = f->linear ? f->varying : a->series.varying;
    a->mass_constant = a->mass_constant && mass_stays(a);
    f->perturbation = dae_perturbation_theory(a);
}

dae_status dae_levels_run(dae_analysis *a, double t, const double *x, const double *v)
{
    dae_series *s = &a->series;
    size_t n = (size_t)s->n;
    int extra = 0;
    s->t = t;
    s->H = a->widest = a->options.time_scale;
    a->quickest = 1;
    a->facts.index = -1;
    for (size_t i = 0; i < n; i++) {
        s->c[i] = a->x_start[i] = x[i];
        s->c[n + i] = v ? v[i] * s->H : 0;
    }
    dae_status status = too_large(a, 0) ? DAE_E_LIMIT : DAE_OK;
    if (status == DAE_OK) {
        memset(a->base, 0, n * sizeof *a->base);
        status = dae_equations_learn(&a->equations, t, x, v ? v : a->base);
    }
    s->few = dae_equations_cost(&a->equations);
    if (status == DAE_OK) status = dae_series_extend(s, 0, &a->memory);
    if (status == DAE_E_NOMEM) return dae_analysis_no_memory(a, "the Jacobians along a curve");
    if (status == DAE_OK) status = find_time_scale(a);
    if (status == DAE_OK) status = (dae_status)classify(a);
    a->exactly = a->facts.linear;
    if (status == DAE_OK && a->exactly && s->rough) status = find_time_scale(a);
    for (int level = 0; status == DAE_OK; level++) {
        status = too_large(a, level) ? DAE_E_LIMIT : run_level(a, level);
        if (status != DAE_OK) break;
        read_level(a, level);
        if (a->facts.linear)
            dae_constraints_add(a, level > 0 ? a->facts.known[level - 1] : 0, level);
        if (last_level(a, level, extra)) break;
        extra = a->array.left - a->array.rank[0];
    }
    if (status == DAE_OK) status = count_again(a);
    if (status != DAE_OK) return status;
    read_point(a);
    conclude(a);
    return DAE_OK;
}
