/* constraints.c: the constraints of the derivative array as a reader wants them, and what theory
 * concludes from where unknowns occur.
 *
 * The array gives an orthonormal basis of the gradients known at a level. Those of the level
 * before are spanned by it; what is new is brought to a reduced form: every constraint
 * has an unknown of its own, with coefficient 1, that occurs in no other of its level and in none
 * of a later level. The unknowns that are nobody's own can be given initial values.
 */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

/* row -= row[own of i] * (constraint i) */
static void clear_with(dae_analysis *a, int i, double *row)
{
    size_t n = (size_t)a->facts.size;
    const double *with = a->gradients + (size_t)i * n;
    double factor = row[a->own[i]];
    if (factor == 0) return;
    for (size_t k = 0; k < n; k++) row[k] -= factor * with[k];
    row[a->own[i]] = 0;
}

/* The entry that matters most: in units of the unknowns' own sizes. */
static int largest_entry(const double *row, const double *unit, int n)
{
    int best = 0;
    for (int k = 1; k < n; k++)
        if (fabs(row[k]) * unit[k] > fabs(row[best]) * unit[best]) best = k;
    return best;
}

/* Into place `at`: the candidate with the largest entry, normalized; it is taken out of the others
 * of this level, and out of the candidates. */
static void adopt(dae_analysis *a, double *candidates, int count, int first, int at, int level)
{
    size_t n = (size_t)a->facts.size;
    double *row = a->gradients + (size_t)at * n, most = -1;
    const double *best = candidates, *unit = a->series.column;
    for (int c = 0; c < count; c++) {
        const double *candidate = candidates + (size_t)c * n;
        int entry = largest_entry(candidate, unit, (int)n);
        double size = fabs(candidate[entry]) * unit[entry];
        if (size > most * (1 + 1e-9)) {
            most = size;
            best = candidate;
        }
    }
    memcpy(row, best, n * sizeof *row);
    int own = a->own[at] = largest_entry(row, unit, (int)n);
    double least = 1e-9 * fabs(row[own]) * unit[own];
    a->level[at] = level;
    for (size_t k = n; k-- > 0;)
        if (k != (size_t)own) row[k] = fabs(row[k]) * unit[k] > least ? row[k] / row[own] : 0;
    row[own] = 1;
    for (int i = first; i < at; i++) clear_with(a, at, a->gradients + (size_t)i * n);
    for (int c = 0; c < count; c++) clear_with(a, at, candidates + (size_t)c * n);
}

void dae_constraints_add(dae_analysis *a, int known, int level)
{
    size_t n = (size_t)a->facts.size;
    int count = a->array.rank[0];
    double *candidates = a->matrices; /* not in use yet */
    for (int c = 0; c < count; c++) {
        const double *scaled = dae_array_constraint(&a->array, c);
        for (size_t k = 0; k < n; k++) /* the array's unknowns are x / column */
            candidates[(size_t)c * n + k] = scaled[k] / a->series.column[k];
        for (int i = 0; i < known; i++) clear_with(a, i, candidates + (size_t)c * n);
    }
    for (int at = known; at < count; at++) adopt(a, candidates, count, known, at, level);
}

/* ---- the perturbation index ---- */

/* Has F_x' one entry at most in every row and column? of_equation[i]: whose derivative stands in
 * equation i, or -1. */
static int selects(const dae_analysis *a, int *of_equation)
{
    const dae_series *s = &a->series;
    size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; i++) of_equation[i] = -1;
    for (size_t j = 0; j < n; j++) {
        int found = 0;
        for (size_t i = 0; i < n; i++) {
            if (s->C[i + j * n] == 0) continue;
            if (found++ || of_equation[i] >= 0) return 0;
            of_equation[i] = (int)j;
        }
    }
    return 1;
}

/* Does unknown j occur in equation i? By the pattern, that is anywhere near; but the diagonal
 * is always part of a pattern, so there the series along the curve decide. */
static int occurs(const dae_analysis *a, int i, int j)
{
    const dae_series *s = &a->series;
    size_t n = (size_t)s->n, place = (size_t)i + (size_t)j * n;
    for (int p = 0; p <= s->order && i == j; p++)
        if (s->K[(size_t)p * n * n + place] != 0) return 1;
    return i != j && dae_matrix_find(&a->equations.pattern, i, j) >= 0;
}

/* Steps from the algebraic unknowns to the constraints: 0 if one occurs in a constraint, 1 if it
 * occurs in the equation of a y' whose y occurs in a constraint, ... Hessenberg form of size r has
 * r - 1. depth has n places. */
static int distance(const dae_analysis *a, const int *of_equation, int *depth)
{
    int n = a->facts.size;
    for (int j = 0; j < n; j++) depth[j] = 0;
    for (int i = 0; i < n; i++)
        if (of_equation[i] >= 0) depth[of_equation[i]] = -1;
    for (int step = 0; step < n; step++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && of_equation[i] < 0; j++)
                if (depth[j] == step && occurs(a, i, j)) return step;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && of_equation[i] >= 0; j++)
                if (depth[of_equation[i]] < 0 && depth[j] == step && j != of_equation[i] &&
                    occurs(a, i, j))
                    depth[of_equation[i]] = step + 1;
    }
    return -1;
}

/* Equal to the differential index for linear equations, for ODEs, in Hessenberg form (Hairer,
 * Lubich and Roche 1989, section 1), and for M x' = f of index 1 with constant M: P M Q =
 * diag(1, 0) makes it u' = f1(u, v) + defect, 0 = f2(u, v) + defect, and v follows from the second
 * without derivatives. */
int dae_perturbation_theory(const dae_analysis *a)
{
    const dae_index_facts *f = &a->facts;
    if (f->index <= 0 || f->linear || (f->index == 1 && a->mass_constant)) return f->index;
    if (!a->mass_constant) return -1;
    int *of_equation = dae_alloc(&a->memory, 2 * (size_t)f->size, sizeof(int)), found = -1;
    if (of_equation && selects(a, of_equation) &&
        distance(a, of_equation, of_equation + f->size) == f->index - 1)
        found = f->index;
    dae_free(&a->memory, of_equation);
    return found;
}
