/* units.c: units in which the ranks of a derivative array mean something (array.h).
 *
 * Unknowns in units that make the entries of the Jacobian alike (array_balance). Time in units in
 * which ranks are told best: if these are too small constraints vanish beside their derivatives, if they
 * are too large higher derivatives dwarf the lower ones.
 */
#include "model/array/array.h"

#include <math.h>

static const double ROUNDING = 1e-13;

void array_put_tau(array_point *p, double tau)
{
    double by = tau / p->a->tau, power = 1;
    for (int e = 0; e < array_columns(p->a); e++) {
        if (e > 0 && e % (int)p->a->n == 0) power *= by;
        p->c[e] *= power;
    }
    p->a->tau = tau;
}

/* How well ranks can be told: what is kept, less where rounding does not explain what is
 * dropped. */
static double clarity(array_point *p, array_base *b)
{
    int rows = array_rows(p->a), width = array_columns(p->a) - b->n;
    if (!array_linearize(p, b) || !array_decompose(b, rows, width)) return 0;
    double doubt = fmin(1, ROUNDING / fmax(b->dropped, ROUNDING));
    return b->kept * doubt * doubt * doubt;
}

void array_choose_units(array_point *p, array_base *b, const double *metric)
{
    int n = b->n;
    double tau = 1, best = -1, chosen = p->a->tau;
    if (!array_balance(p->a, p->t, p->c, b->size, &tau)) return;
    double speed = 1 / tau; /* how fast things change here */
    for (int j = 0; j < n; j++)
        speed =
            fmax(speed, fabs(p->c[n + j]) / p->a->tau / (fabs(p->c[j]) + (metric ? metric[j] : 1)));
    const double unit[] = { 1 / speed, tau / 4, tau, 4 * tau };
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
        array_put_tau(p, unit[i]);
        double now = clarity(p, b);
        if (now > 2 * best) {
            best = now;
            chosen = unit[i];
        }
    }
    array_put_tau(p, chosen);
}
