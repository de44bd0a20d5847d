/* dependent.c: which conditions follow from others at a point, by their gradients.
 *
 * Structure chooses conditions by which unknowns they contain. Where there are more than are
 * needed, and all of them hold at a point, it may choose some that determine nothing there: with
 * x = 1, y = 0 and x^2 + y^2 = 1 the velocity constraint 2 x u + 2 y v = 0 says u = 0 and nothing
 * of v. Elimination, row by row in the order of their rank, tells which conditions determine what
 * and which only repeat it.
 */
#include "model/start/initial.h"

#include <math.h>

/* Of a row whose largest entry is 1: what is less than this after elimination is what is left of
 * the errors of the point, which least squares found. */
static const double NOTHING = 1e-6;

static double scale_row(double *J, int rows, int columns, const double *size, int i)
{
    double most = 0;
    for (int j = 0; j < columns; j++) {
        double *a = &J[(size_t)i + (size_t)j * (size_t)rows];
        *a *= size[j];
        most = isfinite(*a) ? fmax(most, fabs(*a)) : INFINITY;
    }
    if (!(most > 0) || isinf(most)) return 0;
    for (int j = 0; j < columns; j++) J[(size_t)i + (size_t)j * (size_t)rows] /= most;
    return most;
}

/* The column of the largest entry of row i, or -1 if there is nothing left of it. */
static int find_pivot(const double *J, int rows, int columns, int i)
{
    int best = -1;
    double most = NOTHING;
    for (int j = 0; j < columns; j++) {
        double a = fabs(J[(size_t)i + (size_t)j * (size_t)rows]);
        if (a > most) most = a, best = j;
    }
    return best;
}

int dependent_rows(double *J, int rows, int columns, const double *size, const int *order,
                   unsigned char *follows)
{
    int rank = 0;
    for (int k = 0; k < rows; k++)
        if (scale_row(J, rows, columns, size, k) == 0) return 0;
    for (int k = 0; k < rows; k++) {
        int i = order[k], p = find_pivot(J, rows, columns, i);
        follows[i] = p < 0;
        if (p < 0) continue;
        rank++;
        for (int l = k + 1; l < rows; l++) {
            size_t to = (size_t)order[l], column = (size_t)p * (size_t)rows;
            double factor = J[to + column] / J[(size_t)i + column];
            if (factor == 0) continue;
            for (size_t j = 0; j < (size_t)columns; j++)
                J[to + j * (size_t)rows] -= factor * J[(size_t)i + j * (size_t)rows];
            J[to + column] = 0;
        }
    }
    return rank;
}
