/* offsets.c: the index that follows from offsets and a regular system Jacobian (array.h).
 *
 * Row i at order c_i + s holds x_j up to order d_j + s, and those by J = dF_i / dx_j^(d_j - c_i).
 * The rows of one s are a stage. If J is regular every stage, or a part of it, has full rank by the
 * unknowns that are new in it: so none says anything about those before. With k differentiations
 * stage s has the rows c_i <= k - s. Let m be the largest of c. x, x', ..., x^(d_j) follow from
 * the stages up to 0, which are complete from k = m on, and so
 *
 *     x' of d_j = 0 follows from stage 1, complete from k = m + 1 on: the index is at most that.
 *     k = m: the rows c_i = m of stage 1 are missing, and what they leave open are the columns
 *         J^-1 e_i: x' is determined if they have no part at d_j = 0.
 *     k = m - 1: if so, or if all d_j > 0, the same columns are open in stage 0: x' is not
 *         determined if they have a part at d_j = 1.
 *
 * One inverse of n rows tells what the array with its (m + 2) n rows, whose singular values fall
 * with every differentiation, may not.
 */
#include "linear/lapack.h"
#include "model/array/array.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 400, SIDES = 2 };

static const double REGULAR = 1e-6;            /* reciprocal condition of J */
static const double BESIDE = 1e-8, SAME = 0.1; /* how exactly a start is known; an entry then */
static const double ERROR = 1e-7;              /* of other entries, at most */
static const double NOTHING = 1e-13;           /* of a part that structure does not connect */

typedef struct offsets {
    derivative_array *a;
    const uint32_t *c, *d;
    uint32_t most;         /* m */
    double *slope, *there; /* F_x, F_x' / tau; beside the point */
    double *beside;
    double *J, *inverse;
    double *row, *column, *work;
    int *pivot, *count;
} offsets;

/* ---------------------------------------------------------------- units ------------------- */

/* The geometric means of rows, or of columns, become 1; log2 of the largest change. */
static double level(const double *A, size_t n, bool rows, double *row, double *column, double *sum)
{
    double *unit = rows ? row : column, *count = sum + n, most = 0;
    memset(sum, 0, 2 * n * sizeof *sum);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double v = A[i + j * n];
            if (v == 0) continue;
            sum[rows ? i : j] += log2(fabs(v)) + row[i] + column[j];
            count[rows ? i : j]++;
        }
    for (size_t i = 0; i < n; i++) {
        double by = count[i] > 0 ? sum[i] / count[i] : 0;
        unit[i] -= by;
        most = fmax(most, fabs(by));
    }
    return most;
}

void array_level(const double *A, size_t n, double *row, double *column, double *work)
{
    for (size_t i = 0; i < n; i++) row[i] = column[i] = 0;
    for (int round = 0; round < ROUNDS; round++)
        if (fmax(level(A, n, true, row, column, work), level(A, n, false, row, column, work)) < 0.1)
            break;
    for (size_t i = 0; i < n; i++) {
        row[i] = exp2(rint(row[i]));
        column[i] = exp2(rint(column[i]));
    }
}

/* ---------------------------------------------------------------- J ----------------------- */

static bool is_in(const offsets *o, const array_entry *e)
{
    return o->d[e->column] == o->c[e->row] + e->order;
}

static double value_of(const offsets *o, const double *slope, const array_entry *e)
{
    size_t n = o->a->n;
    return slope[e->row + (size_t)e->column * n + (e->order ? n * n : 0)];
}

/* As it is at x, but for entries that are not the same beside it: what an inexact start leaves of a
 * 0, as of (y - sin(time))*z' where y = sin(time). */
static bool fill(offsets *o, double t, const double *x)
{
    size_t n = o->a->n;
    unsigned seed = 1;
    if (!array_evaluate(o->a, t, x, o->work, o->slope, (int)n)) return false;
    memset(o->J, 0, n * n * sizeof *o->J);
    for (size_t k = 0; k < o->a->entries; k++) {
        const array_entry *e = &o->a->entry[k];
        if (is_in(o, e)) o->J[e->row + (size_t)e->column * n] = value_of(o, o->slope, e);
    }
    for (int side = 0; side < SIDES; side++) {
        for (size_t j = 0; j < 2 * n; j++) {
            seed = seed * 1103515245u + 12345u;
            double by = (seed >> 16 & 1 ? 1 : -1) * (0.5 + (double)(seed >> 17 & 0x1ff) / 1024);
            o->beside[j] = x[j] + by * BESIDE * fmax(1, fabs(x[j]));
        }
        if (!array_evaluate(o->a, t, o->beside, o->work, o->there, (int)n)) return false;
        for (size_t k = 0; k < o->a->entries; k++) {
            const array_entry *e = &o->a->entry[k];
            double v = value_of(o, o->slope, e), w = value_of(o, o->there, e);
            if (is_in(o, e) && fabs(w - v) > SAME * fabs(v))
                o->J[e->row + (size_t)e->column * n] = 0;
        }
    }
    return true;
}

/* With any numbers: what is 0 in its inverse is so wherever J is regular. */
static void fill_pattern(offsets *o)
{
    size_t n = o->a->n;
    unsigned seed = 1;
    memset(o->J, 0, n * n * sizeof *o->J);
    for (size_t k = 0; k < o->a->entries; k++) {
        const array_entry *e = &o->a->entry[k];
        seed = seed * 1103515245u + 12345u;
        if (is_in(o, e))
            o->J[e->row + (size_t)e->column * n] = 0.5 + (double)(seed >> 16 & 0x3ff) / 1024;
    }
}

static void balance(offsets *o)
{
    size_t n = o->a->n;
    array_level(o->J, n, o->row, o->column, o->work);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) o->J[i + j * n] *= o->row[i] * o->column[j];
}

/* J's inverse; its reciprocal condition, 0: singular. */
static double invert(offsets *o)
{
    int n = (int)o->a->n, info = 0;
    double norm = 0, rcond = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(o->J[(size_t)i + (size_t)j * (size_t)n]);
        norm = fmax(norm, sum);
    }
    if (!isfinite(norm)) return 0;
    dgetrf_(&n, &n, o->J, &n, o->pivot, &info);
    if (info) return 0;
    dgecon_("1", &n, o->J, &n, &norm, &rcond, o->work, o->count, &info, 1);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) o->inverse[(size_t)i + (size_t)j * (size_t)n] = i == j;
    if (info == 0) dgetrs_("N", &n, &n, o->J, &n, o->pivot, o->inverse, &n, &info, 1);
    return info ? 0 : rcond;
}

/* The part at d_j = d of the columns c_i = m: the largest there is, beside all of its column. */
static double part_at(const offsets *o, uint32_t d)
{
    size_t n = o->a->n;
    double part = 0;
    for (size_t i = 0; i < n; i++) {
        const double *column = o->inverse + i * n;
        double most = 0, here = 0;
        for (size_t j = 0; j < n && o->c[i] == o->most; j++) {
            most = fmax(most, fabs(column[j]));
            if (o->d[j] == d) here = fmax(here, fabs(column[j]));
        }
        if (most > 0) part = fmax(part, here / most);
    }
    return part;
}

/* ---------------------------------------------------------------- the index --------------- */

static int tell(offsets *o, double t, const double *x, double *part)
{
    size_t n = o->a->n;
    bool lowest = false;
    for (size_t j = 0; j < n; j++) lowest = lowest || o->d[j] == 0;
    if (!fill(o, t, x)) return -1;
    balance(o);
    double rcond = invert(o);
    if (!(rcond > REGULAR)) return -1;
    double sure = ERROR / rcond; /* what may be made from nothing */
    *part = lowest ? part_at(o, 0) : 0;
    if (*part > sure) return (int)o->most + 1;
    if (o->most == 0) return lowest ? -1 : 0;
    *part = part_at(o, 1);
    if (!(*part > sure)) return -1;
    if (!lowest) return (int)o->most;
    fill_pattern(o);
    return invert(o) > 0 && part_at(o, 0) < NOTHING ? (int)o->most : -1;
}

int array_index_of_offsets(derivative_array *a, double t, const uint32_t *c, const uint32_t *d,
                           const double *x, double *part)
{
    size_t n = a->n;
    int level = a->level, index = -1;
    double *block = dae_alloc(&a->memory, 6 * n * n + 8 * n + 1, sizeof *block);
    int *whole = dae_alloc(&a->memory, 2 * n + 1, sizeof *whole);
    offsets o = { .a = a, .c = c, .d = d };
    *part = 0;
    if (block && whole && array_reach(a, 0)) {
        o.slope = block, o.there = o.slope + 2 * n * n, o.J = o.there + 2 * n * n;
        o.inverse = o.J + n * n, o.row = o.inverse + n * n, o.column = o.row + n;
        o.beside = o.column + n, o.work = o.beside + 2 * n;
        o.pivot = whole, o.count = whole + n;
        for (size_t i = 0; i < n; i++) o.most = c[i] > o.most ? c[i] : o.most;
        a->level = 0;
        index = tell(&o, t, x, part);
    }
    dae_free(&a->memory, block);
    dae_free(&a->memory, whole);
    a->level = level;
    return index;
}
