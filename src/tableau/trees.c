/* trees.c: order conditions, all of them, from the rooted trees.
 *
 * Runge-Kutta: with psi_i(.) = 1 and psi_i([t_1 .. t_m]) = prod_l sum_j a_ij psi_j(t_l) a
 * method has order p if sum_i b_i psi_i(t) = 1 / gamma(t) for all trees with up to p vertices.
 * Every tree but the single vertex is u o v: the tree u with one more branch v. Taking the
 * branches in descending order makes this unique, and both sides recursive:
 *
 *     psi(u o v) = psi(u) * A psi(v),    gamma(u o v) = gamma(u) gamma(v) |u o v| / |u|
 *
 * Rosenbrock (Hairer & Wanner II, IV.7): a vertex with one branch has beta = alpha + gamma in
 * place of A, a vertex with several has alpha.
 *
 * Index 1, y' = f(y, z), 0 = g(y, z) (Roche 1988, Hairer & Wanner II, VI.4): trees with a
 * second kind of vertex, fat, for g, that has at least two branches and the factor
 * omega = beta^-1 in front; the order counts the thin vertices, and as 0 = g is solved, not
 * integrated, a fat vertex does not divide by the order. (A fat vertex with a single branch
 * gives omega beta = 1: nothing new.)
 *
 * Dense output: sum_i b_i(theta) psi_i(t) = theta^|t| / gamma(t), power by power.
 */
#include "tableau/quad.h"
#include "tableau/verify.h"

#include <string.h>

enum { TREES = 200, FAT_TREES = 220, FAT_ORDER = 5 };

typedef struct tree {
    short left, right; /* u, v; -1: a vertex */
    short size;        /* thin vertices */
    short branches;
    dae_quad density; /* gamma */
} tree;

/* All trees with up to `order` vertices, ascending; answers their number. */
static int grow(tree *t, int order)
{
    int count = 1, first[DAE_TREE_ORDER + 2];
    t[0] = (tree){ -1, -1, 1, 0, 1 };
    first[1] = 0;
    for (int n = 2; n <= order; n++) {
        int end = count;
        first[n] = end;
        for (int u = 0; u < end; u++) {
            int rest = n - t[u].size;
            int last = rest + 1 <= n - 1 ? first[rest + 1] : end;
            if (t[u].branches && t[u].right + 1 < last) last = t[u].right + 1;
            for (int v = first[rest]; v < last; v++)
                t[count++] = (tree){ (short)u, (short)v, (short)n, (short)(t[u].branches + 1),
                                     t[u].density * t[v].density * n / t[u].size };
        }
    }
    return count;
}

int dae_trees_count(int order)
{
    tree t[TREES];
    int count = grow(t, order), at_order = 0;
    for (int k = 0; k < count; k++) at_order += t[k].size == order;
    return at_order;
}

/* ---- weights ---- */

typedef dae_quad stage_vector[DAE_STAGES_MOST];

/* The matrices of a method, and with absolute values: the size of the terms. */
typedef struct matrices {
    int s;
    stage_vector alpha[DAE_STAGES_MOST], beta[DAE_STAGES_MOST];
    const dae_quad *c; /* if not NULL: instead of alpha 1, for the leaves */
    int absolute;
} matrices;

static void open_matrices(matrices *m, const dae_tableau *t, int absolute)
{
    memset(m, 0, sizeof *m);
    m->s = t->stages;
    m->absolute = absolute;
    for (int i = 0; i < m->s; i++) {
        for (int j = 0; j < m->s; j++) {
            dae_quad a = t->A[i][j], g = t->gamma[i][j];
            m->alpha[i][j] = absolute ? dae_quad_abs(a) : a;
            m->beta[i][j] = absolute ? dae_quad_abs(a) + dae_quad_abs(g) : a + g;
        }
    }
}

static dae_quad row_times(const matrices *m, const dae_quad *row, const dae_quad *x)
{
    dae_quad sum = 0;
    for (int j = 0; j < m->s; j++) sum += row[j] * x[j];
    return sum;
}

/* psi of tree k, and of `open`, the product over the branches with alpha, which is what a
 * further branch is added to. */
static void weigh(const matrices *m, const tree *t, int k, stage_vector *psi, stage_vector *open)
{
    for (int i = 0; i < m->s; i++) {
        psi[k][i] = open[k][i] = 1;
        if (t[k].left < 0) continue;
        const dae_quad *v = psi[t[k].right];
        int leaf = m->c && t[k].right == 0;
        dae_quad value = leaf ? m->c[i] : row_times(m, m->alpha[i], v);
        if (leaf && m->absolute) value = dae_quad_abs(value);
        open[k][i] = open[t[k].left][i] * value;
        psi[k][i] = t[k].branches > 1 || leaf ? open[k][i] : row_times(m, m->beta[i], v);
    }
}

typedef struct weights {
    int count;
    tree t[TREES];
    stage_vector psi[TREES], size[TREES];
} weights;

static void open_weights(weights *w, const dae_tableau *t, int with_c)
{
    stage_vector open[TREES];
    matrices m;
    w->count = grow(w->t, DAE_TREE_ORDER);
    for (int absolute = 0; absolute < 2; absolute++) {
        open_matrices(&m, t, absolute);
        m.c = with_c ? t->c : NULL;
        for (int k = 0; k < w->count; k++) weigh(&m, w->t, k, absolute ? w->size : w->psi, open);
    }
}

/* The residual of sum_i b_i psi_i = want relative to the sum of the terms. */
static dae_quad judge(int s, const dae_quad *b, int stride, const dae_quad *psi,
                      const dae_quad *size, dae_quad want)
{
    dae_quad sum = -want, scale = dae_quad_abs(want);
    for (int i = 0; i < s; i++) {
        sum += b[i * stride] * psi[i];
        scale += dae_quad_abs(b[i * stride]) * size[i];
    }
    return scale > 0 ? dae_quad_abs(sum) / scale : 0;
}

static int order_of(const dae_tableau *t, const dae_quad *b, int with_c, dae_quad *residual)
{
    weights w;
    dae_quad tolerance = dae_verify_tolerance(t);
    dae_quad worst[DAE_TREE_ORDER + 1] = { 0 };
    int order = 0;
    open_weights(&w, t, with_c);
    for (int k = 0; k < w.count; k++) {
        dae_quad r = judge(t->stages, b, 1, w.psi[k], w.size[k], 1 / w.t[k].density);
        if (r > worst[w.t[k].size]) worst[w.t[k].size] = r;
    }
    while (order < DAE_TREE_ORDER && worst[order + 1] <= tolerance) {
        order++;
        if (worst[order] > *residual) *residual = worst[order];
    }
    return order;
}

static int sums_are_nodes(const dae_tableau *t)
{
    for (int i = 0; i < t->stages; i++) {
        dae_quad sum = -t->c[i];
        for (int j = 0; j < t->stages; j++) sum += t->A[i][j];
        if (dae_quad_abs(sum) > dae_verify_tolerance(t)) return 0;
    }
    return 1;
}

/* Where c_i is not the sum of the row (Radau IA with one stage, Lobatto IIIB with two), time is
 * treated otherwise than the unknowns; both sets of conditions must hold then. */
int dae_trees_order(const dae_tableau *t, const dae_quad *b, dae_quad *residual)
{
    *residual = 0;
    int order = order_of(t, b, 0, residual);
    if (t->kind != DAE_TABLEAU_ROSENBROCK && !sums_are_nodes(t)) {
        int other = order_of(t, b, 1, residual);
        if (other < order) order = other;
    }
    return order;
}

int dae_trees_dense_order(const dae_tableau *t)
{
    weights w;
    int order = DAE_TREE_ORDER;
    if (t->dense_terms == 0) return 0;
    open_weights(&w, t, 0);
    for (int k = 0; k < w.count; k++) {
        if (w.t[k].size > order) break;
        for (int p = 0; p < t->dense_terms || p < w.t[k].size; p++) {
            dae_quad want = p + 1 == w.t[k].size ? 1 / w.t[k].density : 0;
            dae_quad r = want == 0 ? 0 : 1;
            if (p < t->dense_terms)
                r = judge(t->stages, &t->dense[0][p], DAE_STAGES_MOST, w.psi[k], w.size[k], want);
            if (r > dae_verify_tolerance(t)) order = w.t[k].size - 1;
        }
    }
    return order;
}

/* ---- index 1 ---- */

typedef struct fat_tree {
    short left, right, size, branches, fat;
    dae_quad exact; /* 1 / gamma */
} fat_tree;

/* Trees with thin and fat roots up to FAT_ORDER, by number of thin vertices and, among these,
 * of all vertices, so that u and v come before u o v. A fat root on its own is where fat trees
 * begin (branches 0, size 0) and no tree itself; neither is one with a single branch. */
static int is_tree(const fat_tree *t)
{
    return !t->fat || t->branches > 1;
}

static int add_fat(fat_tree *t, int count, int u, int v)
{
    int size = t[u].size + t[v].size;
    dae_quad exact = t[u].exact * t[v].exact;
    if (!t[u].fat) exact = exact * t[u].size / size;
    t[count] =
        (fat_tree){ (short)u, (short)v, (short)size, (short)(t[u].branches + 1), t[u].fat, exact };
    return count + 1;
}

/* Closure: as long as there are new trees, try them with all others; a branch may not have a
 * higher number than the branches before it. Every tree is made exactly once, from the one
 * pair that makes it, when the later of the two comes up. */
static int grow_fat(fat_tree *t)
{
    int count = 2;
    t[0] = (fat_tree){ -1, -1, 1, 0, 0, 1 };
    t[1] = (fat_tree){ -1, -1, 0, 0, 1, 1 };
    for (int k = 0; k < count; k++) {
        for (int other = 0; other <= k; other++) {
            for (int swap = 0; swap < (other < k ? 2 : 1); swap++) {
                int u = swap ? other : k, v = swap ? k : other;
                if (!is_tree(&t[v]) || t[u].size + t[v].size > FAT_ORDER) continue;
                if (t[u].branches && v > t[u].right) continue;
                if (count == FAT_TREES) return 0;
                count = add_fat(t, count, u, v);
            }
        }
    }
    return count;
}

/* omega = beta^-1, lower triangular */
static void invert(const matrices *m, stage_vector *omega)
{
    memset(omega, 0, DAE_STAGES_MOST * sizeof *omega);
    for (int j = 0; j < m->s; j++) {
        omega[j][j] = 1 / m->beta[j][j];
        for (int i = j + 1; i < m->s; i++) {
            dae_quad sum = 0;
            for (int k = j; k < i; k++) sum += m->beta[i][k] * omega[k][j];
            omega[i][j] = -sum / m->beta[i][i];
        }
    }
}

static void weigh_fat(const matrices *m, stage_vector *omega, const fat_tree *t, int k,
                      stage_vector *psi, stage_vector *open)
{
    for (int i = 0; i < m->s; i++) {
        psi[k][i] = open[k][i] = 1;
        if (t[k].left < 0) continue;
        const dae_quad *v = psi[t[k].right];
        open[k][i] = open[t[k].left][i] * row_times(m, m->alpha[i], v);
        psi[k][i] = t[k].branches > 1 ? open[k][i] : row_times(m, m->beta[i], v);
    }
    if (!t[k].fat) return;
    for (int i = 0; i < m->s; i++) psi[k][i] = row_times(m, omega[i], open[k]);
}

typedef struct fat_weights {
    fat_tree t[FAT_TREES];
    stage_vector psi[FAT_TREES], size[FAT_TREES], open[FAT_TREES];
} fat_weights;

static void fat_orders(const dae_tableau *t, const dae_quad *b, fat_weights *w, int orders[2])
{
    matrices m;
    stage_vector omega[DAE_STAGES_MOST];
    int count = grow_fat(w->t);
    for (int absolute = 0; absolute < 2; absolute++) {
        open_matrices(&m, t, 0);
        invert(&m, omega);
        if (absolute) open_matrices(&m, t, 1);
        for (int i = 0; absolute && i < m.s; i++)
            for (int j = 0; j < m.s; j++) omega[i][j] = dae_quad_abs(omega[i][j]);
        for (int k = 0; k < count; k++)
            weigh_fat(&m, omega, w->t, k, absolute ? w->size : w->psi, w->open);
    }
    orders[0] = orders[1] = count ? FAT_ORDER : 0;
    for (int k = 0; k < count; k++) {
        const fat_tree *f = &w->t[k];
        if (!is_tree(f) || f->size > orders[f->fat]) continue;
        if (judge(t->stages, b, 1, w->psi[k], w->size[k], f->exact) > dae_verify_tolerance(t))
            orders[f->fat] = f->size - 1;
    }
}

void dae_trees_index1(const dae_tableau *t, const dae_quad *b, int *order_y, int *order_z)
{
    fat_weights w;
    int orders[2];
    fat_orders(t, b, &w, orders);
    *order_y = orders[0];
    *order_z = orders[1];
}
