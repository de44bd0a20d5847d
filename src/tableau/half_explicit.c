/* half_explicit.c: explicit tables that keep their order on systems of index 2.
 *
 * y' = f(y, z), 0 = g(y); Z_i is chosen such that g(Y_{i+1}) = 0 [Brasey & Hairer 1993, SIAM J.
 * Numer. Anal. 30; Hairer & Wanner 1996, VII.6]. Let A~ be the rows 2 .. s of A with b below,
 * a regular lower triangular matrix (so a_{i+1,i} and b_s must not vanish), omega its inverse
 * and c~ = (c_2 .. c_s, 1). Beside the classical conditions a method of order 3 needs
 * sum b_i c_i v_i = 2/3, sum b_i v_i^2 = 4/3 with v = omega c~^2; they follow from v_i = 2 c_i
 * where b_i is not zero. Z_1 never does (v_1 = c_2), so b_1 = 0 in all of them; and order 4 also
 * wants a b_2 = 0, hence five stages. Orders for index 2 are measured by
 * tests/test_theory_half_explicit.c.
 *
 * The error estimates need y' at both ends of the step and are with the driver
 * (integrate/half_explicit.c), so b_hat is not set here.
 */
#include "tableau/build.h"
#include "tableau/quad.h"

#include <string.h>

static dae_quad part(int a, int b)
{
    return (dae_quad)a / b;
}

/* (a + b sqrt 6) / c */
static dae_quad surd(int a, int b, int c)
{
    return (a + b * dae_quad_sqrt(6)) / c;
}

/* The explicit midpoint rule: the only one of two stages with b_1 = 0. */
static void make_herk2(dae_tableau *t)
{
    t->stages = t->order = 2;
    t->A[1][0] = part(1, 2);
    t->b[1] = 1;
}

static void make_herk3(dae_tableau *t)
{
    t->stages = t->order = 3;
    t->A[1][0] = part(1, 3);
    t->A[2][0] = -1;
    t->A[2][1] = 2;
    t->b[1] = part(3, 4);
    t->b[2] = part(1, 4);
}

/* The last three nodes are those of Radau IIA. */
static void make_hem4(dae_tableau *t)
{
    t->stages = 5;
    t->order = 4;
    t->A[1][0] = part(3, 10);
    t->A[2][0] = surd(1, 1, 30);
    t->A[2][1] = surd(11, -4, 30);
    t->A[3][0] = surd(-79, -31, 150);
    t->A[3][1] = surd(-1, -4, 30);
    t->A[3][2] = surd(24, 11, 25);
    t->A[4][0] = surd(14, 5, 6);
    t->A[4][1] = surd(-8, 7, 6);
    t->A[4][2] = surd(-9, -7, 4);
    t->A[4][3] = surd(9, -1, 4);
    t->b[2] = surd(16, -1, 36);
    t->b[3] = surd(16, 1, 36);
    t->b[4] = part(1, 9);
}

static const struct {
    const char *name, *title, *source;
    void (*make)(dae_tableau *t);
} tables[] = {
    {"herk-2", "half-explicit midpoint rule, order 2 for index 2", "Hairer & Wanner 1996, VII.6",
     make_herk2},
    {"herk-3", "half-explicit, 3 stages, order 3 for index 2", "Brasey & Hairer 1993, table 2",
     make_herk3},
    {"hem4", "half-explicit, 5 stages, order 4 for index 2", "Brasey & Hairer 1993, table 5",
     make_hem4},
};

const char *dae_half_explicit_name(int i)
{
    return i >= 0 && (size_t)i < sizeof tables / sizeof *tables ? tables[i].name : NULL;
}

int dae_half_explicit_find(const char *name, dae_tableau *out)
{
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        if (strcmp(name, tables[k].name) != 0) continue;
        out->title = tables[k].title;
        out->source = tables[k].source;
        out->kind = DAE_TABLEAU_EXPLICIT;
        out->stage_order = 1;
        tables[k].make(out);
        for (int i = 0; i < out->stages; i++)
            for (int j = 0; j < i; j++) out->c[i] += out->A[i][j];
        if (!strcmp(name, "hem4")) out->c[4] = 1; /* exactly */
        return 1;
    }
    return 0;
}
