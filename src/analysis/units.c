/* units.c: units for time, unknowns and equations, from the sizes of entries alone.
 *
 * A farad is large and a coulomb is huge: with x in the user's units singular values tell the units
 * and not the rank. With |F_x| and |F_x'| at the point, K and C, and s = 1 / H,
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
 *
 * Multiplying equations by numbers, unknowns by others, or time, changes u, v and the corner by
 * just these numbers: the derivative array in these units, rows R_k times exp(u) T^k, columns c_j times
 * exp(v) T^-j, is the same, and so are its ranks. All factors are rounded to powers of two. What is
 * not taken from these units is which solution is the nearest (turn.c): that is a question to the
 * user's numbers.
 *
 * An entry has a say if it is an entry: more than rounding of the terms of its equation, over the
 * increment of its unknown, and more than it is wrong by at a point known to the tolerance.
 * Increments are made for these units in turn. What stays below rounding all the same can be seen
 * by moves that are huge (where F is linear): it matters, and the answer is ambiguous, if the
 * structure (Pryce's offsets) is another with it; 1e-17 x_1 beside a regular structure does not.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

enum { CORNERS = 30 };
static const double none = -1e9, far = 1e5, equal = 1e-6;

dae_status dae_units_open(dae_units *u, int n, const dae_memory *memory)
{
    size_t size = (size_t)n;
    u->n = n;
    dae_vector_wish wish[] = {
        { &u->K, size * size },        { &u->C, size * size },
        { &u->w, size * size },        { &u->row, size },
        { &u->column, size },          { &u->least, size },
        { &u->sway, 2 * size * size },
    };
    u->vectors = dae_alloc_vectors(memory, wish, sizeof wish / sizeof *wish);
    u->row_of = dae_alloc(memory, 4 * size, sizeof(int));
    if (!u->vectors || !u->row_of) return DAE_E_NOMEM;
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

static void set_entry(dae_units *u, size_t place, double K, double C)
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
            if (u->part[i]) continue;
            double length = done + cost(u, i, at);
            if (length < u->least[i]) {
                u->least[i] = length;
                u->way[i] = at;
            }
            if (next < 0 || u->least[i] < u->least[next]) next = i;
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
    for (int j = 0; j < n; j++) assign_column(u, j);
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
    if (!assign(u)) return 0;
    for (int j = 0; j < u->n; j++) {
        size_t place = (size_t)u->row_of[j] + (size_t)j * (size_t)u->n;
        int by_C = u->C[place] > none && u->C[place] + log_s >= u->K[place];
        *slope += by_C;
        *height += by_C ? u->C[place] : u->K[place];
    }
    return 1;
}

/* The time of the last corner, in units of H; 1: it is longer. */
static double quickest_time(dae_units *u)
{
    int last, slope;
    double last_height, height, log_s = 0;
    if (!line(u, far, &last, &last_height)) return 1;
    for (int k = 0; k < CORNERS; k++) {
        if (!line(u, log_s, &slope, &height) || slope >= last) break;
        double corner = (height - last_height) / (last - slope);
        if (!(corner > log_s + equal)) break;
        log_s = corner;
    }
    return exp(-log_s);
}

/* ---- unknowns and equations ---- */

static void join(dae_units *u, int a, int b)
{
    for (int j = 0; j < u->n; j++)
        if (u->part[j] == b) u->part[j] = a;
}

/* Entries of 1 tie rows and columns together, assigned ones to begin with: part of a column, and
 * of the row assigned to it. */
static void tie(dae_units *u)
{
    for (int j = 0; j < u->n; j++) u->part[j] = j;
    for (int j = 0; j < u->n; j++)
        for (int i = 0; i < u->n; i++) {
            int other = u->part[u->column_of[i]];
            if (other != u->part[j] && cost(u, i, j) < equal) join(u, u->part[j], other);
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
    if (row < 0) return 0;
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

/* row, column for this time. 0: no assignment of all rows and columns, and they are none. */
static int find_units(dae_units *u, double H)
{
    weigh(u, -log(H));
    if (!assign(u)) return 0;
    tie(u);
    while (tighten(u))
        ;
    return 1;
}

/* ---- the units of a series ---- */

/* H in units of the time in which the quickest parts change, at most: sizes of entries tell that
 * time coarsely, and an entry of 1/100 is far from the tolerance. */
static const double leap = 100;
/* What an entry that stands for its row and column, and the derivative of a differential equation,
 * should be, at least: otherwise the scaling of series.c is not good enough. With 0.01 two of the
 * systems that tests/analysis/test_index_units.c draws were called singular: three differentiations
 * multiply by that thrice. */
static const double well_seen = 0.1;

/* An entry of K or C counts if it is more than rounding makes of nothing, and more than it may be
 * wrong by at a point that is not known exactly: 1 - x_1 vanishes where x_1 = 1 is a solution. */
static double counted(const dae_analysis *a, int i, int j, int by_v)
{
    const dae_series *s = &a->series;
    size_t n = (size_t)s->n, k = (size_t)i + (size_t)j * n;
    double unit = s->row[i] * s->column[j] / (by_v ? s->H : 1);
    double entry = fabs((by_v ? s->C : s->K)[k]), sway = a->units.sway[k + (by_v ? n * n : 0)];
    double noise = dae_equations_noise(&a->equations, i, j, by_v);
    return entry > unit * fmax(noise, a->options.tolerance * sway) ? entry : 0;
}

static void measure(dae_analysis *a)
{
    const dae_series *s = &a->series;
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) {
            size_t k = (size_t)i + (size_t)j * (size_t)s->n;
            set_entry(&a->units, k, counted(a, i, j, 0), counted(a, i, j, 1));
        }
}

/* The smallest entry of the assignment, or largest one of derivatives in an equation, in the units
 * at hand */
static double weakest_entry(const dae_units *u)
{
    double weakest = 0; /* in logarithms */
    for (int i = 0; i < u->n; i++) {
        double derivative = none;
        for (int j = 0; j < u->n; j++) {
            size_t k = (size_t)i + (size_t)j * (size_t)u->n;
            derivative = fmax(derivative, u->C[k]);
            if (u->row_of[j] == i) weakest = fmin(weakest, fmax(u->K[k], u->C[k]));
        }
        if (derivative > none) weakest = fmin(weakest, derivative);
    }
    return exp(weakest);
}

/* Powers of two: nothing is rounded by a change of units. */
static double power_of_two(double logarithm)
{
    return exp2(rint(logarithm / M_LN2));
}

double dae_units_noise(const dae_analysis *a, int unseen)
{
    const dae_series *s = &a->series;
    double most = 0;
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) {
            size_t k = (size_t)i + (size_t)j * (size_t)s->n;
            double unit = s->row[i] * s->rank_row[i] * s->column[j] * s->rank_column[j];
            double by_x = dae_equations_noise(&a->equations, i, j, 0);
            double by_v = dae_equations_noise(&a->equations, i, j, 1) / (s->H * s->rank_time);
            most = fmax(most, unseen || s->K[k] != 0 ? unit * by_x : 0);
            most = fmax(most, unseen || s->C[k] != 0 ? unit * by_v : 0);
        }
    return most;
}

/* Into the series: of time, in units of H, and those of the assignment; 1: they are others. */
static int take_units(dae_series *s, const dae_units *u, int own, double time)
{
    int changed = 0;
    double before = s->rank_time;
    s->rank_time = own ? power_of_two(log(time)) : 1;
    changed |= s->rank_time != before;
    for (int i = 0; i < s->n; i++) {
        double row = own ? power_of_two(u->row[i]) : 1;
        double column = own ? power_of_two(u->column[i]) : 1;
        changed |= row != s->rank_row[i] || column != s->rank_column[i];
        s->rank_row[i] = row;
        s->rank_column[i] = column;
    }
    return changed;
}

int dae_units_choose(dae_analysis *a)
{
    dae_series *s = &a->series;
    dae_units *u = &a->units;
    double time = 1;
    a->closer = 0;
    a->quickest = 1;
    /* whether an assignment of very many entries is the largest depends on little; and a series
     * that does not end tells nothing */
    if (!s->few && s->blur <= a->options.tolerance) {
        measure(a);
        a->quickest = quickest_time(u);
        time = a->quickest * leap < 1 ? a->quickest : 1;
        a->closer =
            find_units(u, time) && (time < 1 || s->calm > 1 || weakest_entry(u) < well_seen);
    }
    return take_units(s, u, a->closer, time);
}

int dae_units_slow_down(dae_analysis *a)
{
    dae_series *s = &a->series;
    if (s->few || a->quickest * leap >= 1) return 0;
    double factor = power_of_two(log(a->quickest));
    dae_series_stretch(s, factor);
    s->calm /= factor;
    a->widest = fmin(a->widest, s->H);
    s->rank_time = a->quickest = 1;
    return 1;
}

double dae_units_spread(const dae_analysis *a)
{
    const dae_series *s = &a->series;
    double most = 0, least = INFINITY;
    for (int j = 0; j < s->n; j++) {
        most = fmax(most, s->column[j] * s->rank_column[j]);
        least = fmin(least, s->column[j] * s->rank_column[j]);
    }
    return most / least * fmax(1, a->options.time_scale / (s->H * s->rank_time));
}

/* Where a column has no entry yet, one that moves of this size show. */
static void add_hidden(dae_analysis *a, int j, int by_v, double by, double *far_away)
{
    const dae_series *s = &a->series;
    dae_equations *e = &a->equations;
    if (dae_equations_far(e, s->t, e->x_curve, e->v_curve, j, by_v, by, far_away) != DAE_OK) return;
    for (int i = 0; i < s->n; i++) {
        size_t n = (size_t)s->n, k = (size_t)i + (size_t)j * n;
        double *entry = (by_v ? a->units.C : a->units.K) + k;
        double unit = s->row[i] * s->column[j] / (by_v ? s->H : 1);
        double sway = a->options.tolerance * a->units.sway[k + (by_v ? n * n : 0)];
        if (*entry == none && fabs(far_away[i]) > sway) *entry = log(unit * fabs(far_away[i]));
    }
}

/* What Pryce's method (2001) says of entries that are there or not, whatever their size: the
 * largest number of derivatives in an assignment, and by how much equations have to be differentiated. */
typedef struct structure {
    int regular, derivatives, index;
} structure;

static double order_of(const dae_units *u, int i, int j)
{
    size_t k = (size_t)i + (size_t)j * (size_t)u->n;
    return u->C[k] > none ? 1 : u->K[k] > none ? 0 : none;
}

static structure read_structure(dae_units *u)
{
    structure found = { 0 };
    int n = u->n, changed = 1;
    double *offset = u->least;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) u->w[(size_t)i + (size_t)j * (size_t)n] = order_of(u, i, j);
    found.regular = assign(u);
    memset(offset, 0, (size_t)n * sizeof *offset);
    for (int pass = 0; pass <= n && changed && found.regular; pass++) {
        changed = found.derivatives = 0;
        found.index = 0;
        int untouched = 0;
        for (int j = 0; j < n; j++) {
            int row = u->row_of[j];
            double most = 0;
            for (int i = 0; i < n; i++) most = fmax(most, offset[i] + order_of(u, i, j));
            changed |= most - order_of(u, row, j) != offset[row];
            offset[row] = most - order_of(u, row, j);
            found.derivatives += order_of(u, row, j) > 0;
            found.index = offset[row] > found.index ? (int)offset[row] : found.index;
            untouched |= most == 0;
        }
        found.index += untouched;
    }
    return found;
}

int dae_units_hidden(dae_analysis *a)
{
    static const double moves[] = { 0x1p20, 0x1p40, 0x1p60 };
    const dae_series *s = &a->series;
    dae_equations *e = &a->equations;
    if (e->colors > DAE_DENSE) /* with so many terms in an equation none stands alone */
        return 0;
    measure(a);
    structure seen = read_structure(&a->units);
    for (int i = 0; i < s->n; i++) {
        e->x_curve[i] = s->column[i] * s->c[i];
        e->v_curve[i] = s->column[i] * s->c[s->n + i] / s->H;
    }
    for (int k = 0; k < 6 * s->n; k++) {
        int j = k / 6, by_v = k / 3 % 2;
        add_hidden(a, j, by_v, moves[k % 3] * e->step[by_v][j], e->row);
    }
    structure all = read_structure(&a->units);
    return all.regular &&
           (!seen.regular || all.derivatives > seen.derivatives || all.index != seen.index);
}

/* Of all units only ratios are determined by entries: how large solutions are, x tells, and where
 * it is 0 the mean of the units stays what it was. */
static double solution_size(const dae_analysis *a)
{
    const dae_series *s = &a->series;
    double most = 0, mean = 0;
    for (int j = 0; j < s->n; j++) {
        most = fmax(most, fabs(s->c[j]) / s->rank_column[j]);
        mean += log(a->equations.unit[j] / (s->column[j] * s->rank_column[j])) / s->n;
    }
    return most > 0 ? most : exp(mean);
}

void dae_units_adopt(dae_analysis *a)
{
    const dae_series *s = &a->series;
    double size = solution_size(a);
    a->equations.swift = s->rank_time;
    for (int j = 0; j < s->n; j++) a->equations.unit[j] = size * s->column[j] * s->rank_column[j];
}
