/* multistep.c: order, root condition and Dahlquist's barriers, computed from the tables.
 *
 * Sources: [D56], [D63] Dahlquist 1956, 1963; [HNW93] Hairer, Norsett, Wanner III.3, and
 * [HW96] Hairer, Wanner V.1, V.2; lecture notes on DAEs, ch. 4 (stability of BDF for k <= 6,
 * Milne's method). Their statements:
 *
 *   zero-stable formulas with k steps have order p <= k + 2 (k even), k + 1 (k odd), and
 *   p <= k if beta_k / alpha_k <= 0, explicit ones in particular
 *   A-stable ones have p <= 2, and of those with p = 2 the trapezoidal rule has the smallest
 *   error constant, -1/12
 *
 * All orders and error constants are found in fractions. The most accurate formulas of all, order 2k,
 * are derived and show the price: for k = 3 rho = (11 z^3 + 27 z^2 - 27 z - 11) / 60 with the root
 * (-19 - 4 sqrt 15) / 11.
 */
#include "reproduce.h"
#include "multistep/derive.h"
#include "multistep/verify.h"

#include <math.h>
#include <string.h>

static int barrier(const dae_lmm_facts *f, int k)
{
    if (f->claims & DAE_LMM_EXPLICIT) return k;
    return k % 2 ? k + 1 : k + 2;
}

static int as_claimed(const dae_lmm *m, const dae_lmm_facts *f)
{
    int constant = f->constant.num == m->constant.num && f->constant.den == m->constant.den;
    return f->order == m->order && constant && f->claims == m->claims &&
           fabs(f->angle - m->angle) < 0.005 + 1e-9 && f->tau_order == (m->has_tau ? m->steps : 0);
}

static void tables(verdicts *v)
{
    dae_lmm m;
    dae_lmm_facts f;
    char text[DAE_RATIONAL_TEXT];
    fprintf(
        v->out,
        "  What the formulas are, computed beside what theory says of them. Largest roots: of rho\n"
        "  besides 1, of sigma, of sigma - tau; p <= b: the first barrier\n\n"
        "    %-18s %2s %2s %26s %8s %8s %8s  %6s\n",
        "formula", "p", "b", "error constant", "rho", "sigma", "s - tau", "alpha");
    for (int i = 0; dae_lmm_each(i, &m); i++) {
        dae_lmm_verify(&m, &f);
        int b = barrier(&f, m.steps), stable = !!(f.claims & DAE_LMM_ZERO_STABLE);
        fprintf(v->out, "    %-18s %2d %2d %26s %8.4f %8.4f ", m.name, f.order, b,
                dae_rational_text(f.constant, text), f.rho_radius, f.sigma_radius);
        if (m.has_tau)
            fprintf(v->out, "%8.4f", f.blocked_radius);
        else
            fprintf(v->out, "%8s", "");
        fprintf(v->out, "  %6.2f  %s\n", f.angle,
                verdict(v, as_claimed(&m, &f) && (!stable || f.order <= b)));
    }
}

/* ---- the first barrier ---- */

static void most_accurate(verdicts *v)
{
    fprintf(v->out,
            "\n  The first barrier: the most accurate formulas, 2k (explicit: 2k - 1)\n\n"
            "    %-10s %2s %6s %8s %14s %12s\n",
            "", "k", "order", "barrier", "largest root", "zero-stable");
    for (int is_explicit = 0; is_explicit < 2; is_explicit++)
        for (int k = 1; k <= 5; k++) {
            dae_lmm m;
            dae_lmm_facts f;
            int good = dae_lmm_most_accurate(&m, k, is_explicit);
            if (good)
                dae_lmm_verify(&m, &f);
            else
                memset(&f, 0, sizeof f);
            int b = barrier(&f, k), stable = !!(f.claims & DAE_LMM_ZERO_STABLE);
            good = good && f.order == 2 * k - is_explicit && stable == (f.order <= b);
            if (k == 3 && !is_explicit)
                good = good && fabs(f.rho_radius - (19 + 4 * sqrt(15)) / 11) < 1e-12;
            if (k == 2 && is_explicit) good = good && fabs(f.rho_radius - 5) < 1e-12;
            fprintf(v->out, "    %-10s %2d %6d %8d %14.4f %12s  %s\n",
                    is_explicit ? "explicit" : "implicit", k, f.order, b, f.rho_radius,
                    stable ? "yes" : "no", verdict(v, good));
        }
}

/* ---- the second barrier ---- */

/* rho = (z - 1)(z - a) / (1 - a), sigma = (that of order 3) + b (z - 1)^2: all consistent two-step
 * formulas of order >= 2, and the error constant is -b. */
static int two_step(dae_rational a, dae_rational b, dae_lmm *m)
{
    dae_rational one = dae_ratio(1, 1),
                 scale = dae_rational_over(one, dae_rational_subtract(one, a));
    memset(m, 0, sizeof *m);
    m->steps = 2;
    for (int j = 0; j <= DAE_LMM_STEPS; j++) m->rho[j] = m->sigma[j] = m->tau[j] = dae_ratio(0, 1);
    m->rho[2] = scale;
    m->rho[0] = dae_rational_times(a, scale);
    m->rho[1] = dae_rational_subtract(dae_ratio(0, 1), dae_rational_add(m->rho[0], m->rho[2]));
    if (!dae_lmm_complete(m, 0)) return 0;
    for (int j = 0; j < 3; j++)
        m->sigma[j] =
            dae_rational_add(m->sigma[j], dae_rational_times(b, dae_ratio(j == 1 ? -2 : 1, 1)));
    return 1;
}

static void second_barrier(verdicts *v)
{
    int stable = 0, beyond = 0, least_num = 1000, others = 0;
    fprintf(v->out,
            "\n  The second barrier: two-step formulas, rho = (z - 1)(z - a)/(1 - a), error "
            "constant -b\n  a = -9/10 .. 9/10, b = -2/120 .. 30/120 in steps of 2/120\n\n");
    for (int i = -9; i <= 9; i += 3)
        for (int j = -2; j <= 30; j += 2) {
            dae_lmm m;
            dae_lmm_facts f;
            if (!two_step(dae_ratio(i, 10), dae_ratio(j, 120), &m)) continue;
            dae_lmm_verify(&m, &f);
            if (!(f.claims & DAE_LMM_A_STABLE)) {
                others++;
                continue;
            }
            stable++;
            beyond += f.order > 2 || j < 10;
            if (j < least_num) least_num = j;
        }
    fprintf(v->out,
            "    %d A-stable, %d not; smallest b of an A-stable one: %d/120 (1/12 = 10/120)\n"
            "    of order 3, or with b < 1/12: %d  %s\n",
            stable, others, least_num, beyond,
            verdict(v, beyond == 0 && stable > 20 && least_num == 10));
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    tables(&v);
    most_accurate(&v);
    second_barrier(&v);
    return verdict_total(&v);
}

const reproduction reproduction_multistep = {
    .id = "multistep",
    .title = "root conditions, orders and Dahlquist's barriers, from the tables",
    .source = "Dahlquist 1956, 1963; Hairer, Norsett, Wanner III.3; Hairer, Wanner V.1",
    .run = run,
};
