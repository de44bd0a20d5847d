/* units.c: units for time, unknowns and equations, from the sizes of entries alone.
 *
 * A farad is large and a coulomb is huge: with x in the user's units singular values tell the units
 * and not the rank. With the largest |F_x|, |F_x'| along a curve, K and C, and s = 1 / H,
 *
 *     w_ij = log max(K_ij, s C_ij)
 *
 * is how large an entry is over a time H. A largest assignment (one entry in every row and column,
 * the sum of w as large as possible: the Hungarian method) comes with duals u, v,
 *
 *     w_ij + u_i + v_j <= 0,      = 0 for the entries assigned:
 *
 * rows multiplied by exp(u), columns by exp(v) have entries of 1 at most, and of 1 where it
 * matters (Duff and Koster 2001). The sum as a function of log s is convex and made of straight
 * lines; where its slope changes, s is of the size of eigenvalues of s C + K (Akian, Gaubert and
 * Sharify 2009). Beyond the last of these corners lies what the index is about, s -> infinity: an
 * H larger than that takes x_2 = k (x_0 - 2 x_1) with a large k for the constraint x_0 = 2 x_1.
 *
 * Duals are not unique: in x_0' = x_1, x_0 = g the entry of x_0' may be as small as one likes. So
 * what is not tied together by entries of 1 is moved until its largest entry is 1, the largest
 * first. Entries that are tiny in every unit have no say.
 */
#include "analysis/analysis.h"
#include "linear/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CORNERS = 30 };
static const double none = -1e9, far = 1e5, equal = 1e-6;

dae_status dae_units_open(dae_units *u, int n, const dae_memory *memory)
{
    size_t size = (size_t)n;
    u->n = n;
    dae_vector_wish wish[] = {
        { &u->K, size * size }, { &u->C, size * size }, { &u->w, size * size },
        { &u->row, size },      { &u->column, size },   { &u->least, size },
    };
    u->vectors = dae_alloc_vectors(memory, wish, sizeof wish / sizeof *wish);
    u->row_of = dae_alloc(memory, 4 * size, sizeof(int));
    if (!u->vectors || !u->row_of)
        return DAE_E_NOMEM;
    u->column_of = u->row_of + n;
    u->way = u->column_of + n;
    u->part = u->way + n;
    return DAE_OK;
}

void dae_units_close(dae_units *u, const dae_memory *memory)
{
    dae_free(memory, u->vectors);
    dae_free(memory, u->row_of);
    u->vectors = NULL;
    u->row_of = NULL;
}

void dae_units_entry(dae_units *u, size_t place, double K, double C)
{
    u->K[place] = K > 0 ? log(K) : none;
    u->C[place] = C > 0 ? log(C) : none;
}

/* ---- the assignment ---- */

static double cost(const dae_units *u, int row, int column)
{
    return -u->w[(size_t)row + (size_t)column * (size_t)u->n] - u->row[row] - u->column[column];
}

/* From a column that is free along shortest paths to a row that is: part marks the rows seen, way
 * the column each was met from. Answers the free row. */
static int find_path(dae_units *u, int column, double *reach)
{
    int n = u->n, found = -1, at = column;
    double done = 0;
    for (int i = 0; i < n; i++) {
        u->least[i] = INFINITY;
        u->part[i] = 0;
    }
    while (found < 0) {
        int next = -1;
        for (int i = 0; i < n; i++) {
            if (u->part[i])
                continue;
            double length = done + cost(u, i, at);
            if (length < u->least[i]) {
                u->least[i] = length;
                u->way[i] = at;
            }
            if (next < 0 || u->least[i] < u->least[next])
                next = i;
        }
        done = u->least[next];
        u->part[next] = 1;
        at = u->column_of[next];
        found = at < 0 ? next : -1;
    }
    *reach = done;
    return found;
}

static void assign_column(dae_units *u, int column)
{
    double reach;
    int row = find_path(u, column, &reach);
    u->column[column] += reach;
    for (int i = 0; i < u->n; i++)
        if (u->part[i] && i != row) {
            u->column[u->column_of[i]] += reach - u->least[i];
            u->row[i] -= reach - u->least[i];
        }
    for (int from = -1; from != column;) {
        from = u->way[row];
        int before = u->row_of[from];
        u->row_of[from] = row;
        u->column_of[row] = from;
        row = before;
    }
}

/* Of the weights w. 0: some row or column has no entry for it. */
static int assign(dae_units *u)
{
    int n = u->n, whole = 1;
    for (int i = 0; i < n; i++) {
        u->row_of[i] = u->column_of[i] = -1;
        u->row[i] = INFINITY;
        u->column[i] = 0;
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            u->row[i] = fmin(u->row[i], -u->w[(size_t)i + (size_t)j * (size_t)n]);
    for (int j = 0; j < n; j++)
        assign_column(u, j);
    for (int j = 0; j < n; j++)
        whole &= u->w[(size_t)u->row_of[j] + (size_t)j * (size_t)n] > none / 2;
    return whole;
}

/* ---- time ---- */

static void weigh(dae_units *u, double log_s)
{
    for (size_t k = 0; k < (size_t)u->n * (size_t)u->n; k++)
        u->w[k] = fmax(u->K[k], u->C[k] > none ? u->C[k] + log_s : none);
}

/* The line log s -> slope log s + height of the assignment that is best there; 0: there is none. */
static int line(dae_units *u, double log_s, int *slope, double *height)
{
    weigh(u, log_s);
    *slope = 0;
    *height = 0;
    if (!assign(u))
        return 0;
    for (int j = 0; j < u->n; j++) {
        size_t place = (size_t)u->row_of[j] + (size_t)j * (size_t)u->n;
        int by_C = u->C[place] > none && u->C[place] + log_s >= u->K[place];
        *slope += by_C;
        *height += by_C ? u->C[place] : u->K[place];
    }
    return 1;
}

double dae_units_time(dae_units *u, double H)
{
    int last, slope;
    double last_height, height, log_s = -log(H);
    if (!line(u, far, &last, &last_height))
        return H;
    for (int k = 0; k < CORNERS; k++) {
        if (!line(u, log_s, &slope, &height) || slope >= last)
            break;
        double corner = (height - last_height) / (last - slope);
        if (!(corner > log_s + equal))
            break;
        log_s = corner;
    }
    return exp(-log_s);
}

/* ---- unknowns and equations ---- */

static void join(dae_units *u, int a, int b)
{
    for (int j = 0; j < u->n; j++)
        if (u->part[j] == b)
            u->part[j] = a;
}

/* Entries of 1 tie rows and columns together, assigned ones to begin with: part of a column, and
 * of the row assigned to it. */
static void tie(dae_units *u)
{
    for (int j = 0; j < u->n; j++)
        u->part[j] = j;
    for (int j = 0; j < u->n; j++)
        for (int i = 0; i < u->n; i++) {
            int other = u->part[u->column_of[i]];
            if (other != u->part[j] && cost(u, i, j) < equal)
                join(u, u->part[j], other);
        }
}

/* The largest entry between two parts becomes 1: the smaller of them moves. 0: there is none. */
static int tighten(dae_units *u)
{
    int n = u->n, row = -1, column = -1, of_row = 0, of_column = 0;
    double least = -none / 2;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (u->part[u->column_of[i]] != u->part[j] && cost(u, i, j) < least) {
                least = cost(u, i, j);
                row = i;
                column = j;
            }
    if (row < 0)
        return 0;
    int a = u->part[u->column_of[row]], b = u->part[column];
    for (int j = 0; j < n; j++) {
        of_row += u->part[j] == a;
        of_column += u->part[j] == b;
    }
    int moved = of_row <= of_column ? a : b;
    double by = moved == a ? least : -least;
    for (int j = 0; j < n; j++)
        if (u->part[j] == moved) {
            u->column[j] -= by;
            u->row[u->row_of[j]] += by;
        }
    join(u, a, b);
    return 1;
}

int dae_units_find(dae_units *u, double H)
{
    weigh(u, -log(H));
    if (!assign(u))
        return 0;
    tie(u);
    while (tighten(u))
        ;
    return 1;
}
