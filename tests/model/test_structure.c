/* test_structure.c: matching, parts, blocks, tearing, offsets against brute force and theory. */
#include "testing.h"

#include "index/structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dae_memory memory;

/* A structure from text: a row per line of columns, "01 12 0" has three rows. */
typedef struct given {
    dae_structure s;
    size_t start[64];
    uint32_t column[512];
} given;

static void parse(given *g, const char *text, uint32_t columns)
{
    size_t entries = 0;
    memset(g, 0, sizeof *g);
    g->s.rows = 1;
    for (; *text; text++) {
        if (*text == ' ')
            g->start[g->s.rows++] = entries;
        else
            g->column[entries++] = (uint32_t)(*text - '0');
    }
    g->start[g->s.rows] = entries;
    g->s.columns = columns;
    g->s.start = g->start;
    g->s.column = g->column;
}

static uint32_t seed = 12345;
static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void scatter(given *g, uint32_t rows, uint32_t columns, uint32_t percent)
{
    size_t entries = 0;
    memset(g, 0, sizeof *g);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < columns; j++)
            if (draw(100) < percent) g->column[entries++] = j;
        g->start[i + 1] = entries;
    }
    g->s = (dae_structure){ rows, columns, g->start, g->column };
}

/* The largest matching by trying every subset of columns: rows one after another. */
static int best_matching(const dae_structure *s, uint32_t row, unsigned taken)
{
    if (row == s->rows) return 0;
    int best = best_matching(s, row + 1, taken);
    for (size_t k = s->start[row]; k < s->start[row + 1]; k++)
        if (!(taken & 1u << s->column[k])) {
            int here = 1 + best_matching(s, row + 1, taken | 1u << s->column[k]);
            if (here > best) best = here;
        }
    return best;
}

static void check_matching(const dae_structure *s, const dae_matching *m)
{
    size_t pairs = 0;
    for (uint32_t i = 0; i < s->rows; i++) {
        uint32_t j = m->column_of[i];
        if (j == DAE_NOWHERE) continue;
        int stored = 0;
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) stored |= s->column[k] == j;
        assert_true(stored);
        assert_int_equal(m->row_of[j], i);
        pairs++;
    }
    assert_int_equal(pairs, m->rank);
}

static void test_matching_is_largest(void **state)
{
    (void)state;
    given g;
    for (int round = 0; round < 400; round++) {
        dae_matching m, one;
        scatter(&g, 1 + draw(7), 1 + draw(7), 10 + draw(40));
        assert_int_equal(dae_matching_open(&m, &g.s, &memory), DAE_OK);
        assert_int_equal(dae_match(&g.s, g.s.rows, &memory, &m), DAE_OK);
        check_matching(&g.s, &m);
        assert_int_equal(m.rank, best_matching(&g.s, 0, 0));
        /* row by row gives the same number, and a row is refused only if it must be */
        unsigned char dead[8] = { 0 };
        assert_int_equal(dae_matching_open(&one, &g.s, &memory), DAE_OK);
        for (uint32_t i = 0; i < g.s.rows; i++) {
            bool matched;
            dae_structure upto = { i + 1, g.s.columns, g.start, g.column };
            size_t before = one.rank;
            assert_int_equal(dae_match_one(&g.s, i, &memory, dead, &one, &matched), DAE_OK);
            assert_int_equal(one.rank, best_matching(&upto, 0, 0));
            assert_int_equal(matched, one.rank > before);
        }
        check_matching(&g.s, &one);
        dae_matching_close(&m, &memory);
        dae_matching_close(&one, &memory);
    }
}

static void test_earlier_rows_have_priority(void **state)
{
    (void)state;
    given g;
    dae_matching m;
    parse(&g, "01 0 1 01", 2);
    assert_int_equal(dae_matching_open(&m, &g.s, &memory), DAE_OK);
    for (uint32_t rows = 1; rows <= 4; rows++)
        assert_int_equal(dae_match(&g.s, rows, &memory, &m), DAE_OK);
    assert_true(m.column_of[0] != DAE_NOWHERE && m.column_of[1] != DAE_NOWHERE);
    assert_true(m.column_of[2] == DAE_NOWHERE && m.column_of[3] == DAE_NOWHERE);
    dae_matching_close(&m, &memory);
}

static void test_parts(void **state)
{
    (void)state;
    given g;
    dae_matching m;
    unsigned char row[8], column[8];
    /* rows 0, 1 share column 0: over; column 3, 4 share row 3: under; row 2 is well */
    parse(&g, "0 0 1 134", 5);
    assert_int_equal(dae_matching_open(&m, &g.s, &memory), DAE_OK);
    assert_int_equal(dae_match(&g.s, 4, &memory, &m), DAE_OK);
    assert_int_equal(m.rank, 3);
    assert_int_equal(dae_find_parts(&g.s, &m, &memory, row, column), DAE_OK);
    const unsigned char rows[] = { DAE_PART_OVER, DAE_PART_OVER, DAE_PART_WELL, DAE_PART_UNDER };
    const unsigned char columns[] = { DAE_PART_OVER, DAE_PART_WELL, DAE_PART_UNDER, DAE_PART_UNDER,
                                      DAE_PART_UNDER };
    assert_memory_equal(row, rows, 4);
    assert_int_equal(column[0], columns[0]);
    assert_int_equal(column[1], columns[1]);
    assert_int_equal(column[2], DAE_PART_UNDER); /* occurs in no equation */
    assert_int_equal(column[3], columns[3]);
    assert_int_equal(column[4], columns[4]);
    dae_matching_close(&m, &memory);
}

/* In the order of the blocks everything a block needs is in it or before it; and two rows share a
 * block exactly if each reaches the other. */
static void test_blocks(void **state)
{
    (void)state;
    given g;
    for (int round = 0; round < 400; round++) {
        uint32_t n = 1 + draw(8), order[8], begin[9], blocks, block_of[8];
        unsigned char reach[8][8] = { { 0 } };
        dae_matching m;
        scatter(&g, n, n, 30);
        assert_int_equal(dae_matching_open(&m, &g.s, &memory), DAE_OK);
        assert_int_equal(dae_match(&g.s, n, &memory, &m), DAE_OK);
        if (m.rank == n) {
            assert_int_equal(dae_find_blocks(&g.s, &m, &memory, order, begin, &blocks), DAE_OK);
            assert_int_equal(begin[blocks], n);
            for (uint32_t b = 0; b < blocks; b++)
                for (uint32_t k = begin[b]; k < begin[b + 1]; k++) block_of[order[k]] = b;
            for (uint32_t i = 0; i < n; i++)
                for (size_t k = g.start[i]; k < g.start[i + 1]; k++) {
                    uint32_t j = m.row_of[g.column[k]];
                    assert_true(block_of[j] <= block_of[i]);
                    reach[i][j] = 1;
                }
            for (uint32_t k = 0; k < n; k++)
                for (uint32_t i = 0; i < n; i++)
                    for (uint32_t j = 0; j < n; j++) reach[i][j] |= reach[i][k] && reach[k][j];
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                    if (i != j)
                        assert_int_equal(block_of[i] == block_of[j], reach[i][j] && reach[j][i]);
        }
        dae_matching_close(&m, &memory);
    }
}

/* Whatever is torn: assignments use only what is torn or assigned before, through solvable
 * entries, within the depth; equations left over are as many as torn unknowns. */
static void test_tearing(void **state)
{
    (void)state;
    given g;
    for (int round = 0; round < 600; round++) {
        uint32_t n = 1 + draw(8), depth_of[8], most = 1 + draw(4);
        unsigned char solvable[512], known[8] = { 0 }, used[8] = { 0 };
        dae_tearing t;
        scatter(&g, n, n, 40);
        for (size_t k = 0; k < g.start[n]; k++) solvable[k] = draw(3) > 0;
        assert_int_equal(dae_tearing_open(&t, n, &memory), DAE_OK);
        assert_int_equal(dae_tear(&g.s, solvable, most, &memory, &t), DAE_OK);
        assert_int_equal(t.assigned + t.torn, n);
        for (uint32_t k = 0; k < t.torn; k++) {
            known[t.torn_column[k]] = 1;
            depth_of[t.torn_column[k]] = 0;
        }
        for (uint32_t a = 0; a < t.assigned; a++) {
            uint32_t i = t.assigned_row[a], depth = 0;
            bool found = false;
            assert_false(known[t.assigned_column[a]]);
            assert_false(used[i]);
            used[i] = 1;
            for (size_t k = g.start[i]; k < g.start[i + 1]; k++) {
                if (g.column[k] == t.assigned_column[a]) {
                    assert_true(solvable[k]);
                    found = true;
                } else {
                    assert_true(known[g.column[k]]);
                    if (depth_of[g.column[k]] > depth) depth = depth_of[g.column[k]];
                }
            }
            assert_true(found);
            assert_true(depth + 1 <= most);
            known[t.assigned_column[a]] = 1;
            depth_of[t.assigned_column[a]] = depth + 1;
        }
        for (uint32_t k = 0; k < t.torn; k++) {
            assert_false(used[t.left_row[k]]);
            used[t.left_row[k]] = 1;
        }
        dae_tearing_close(&t, &memory);
    }
}

static void test_tearing_of_a_ring(void **state)
{
    (void)state; /* x1 -> x2 -> ... -> x6 -> x1: one unknown opens it */
    given g;
    dae_tearing t;
    unsigned char solvable[512];
    memset(solvable, 1, sizeof solvable);
    parse(&g, "01 12 23 34 45 50", 6);
    assert_int_equal(dae_tearing_open(&t, 6, &memory), DAE_OK);
    assert_int_equal(dae_tear(&g.s, solvable, 8, &memory, &t), DAE_OK);
    assert_int_equal(t.torn, 1);
    assert_int_equal(dae_tear(&g.s, solvable, 2, &memory, &t), DAE_OK);
    assert_in_range(t.torn, 2, 3);
    dae_tearing_close(&t, &memory);
}

/* x, y, u, v, lambda of the pendulum: x' = u, y' = v, u' = -lambda x, v' = -lambda y - g,
 * x^2 + y^2 = L^2: index 3, the constraint twice and the first two once. */
static void test_offsets_of_the_pendulum(void **state)
{
    (void)state;
    given g;
    dae_matching m;
    uint32_t c[5], d[5];
    int index = -1;
    parse(&g, "02 13 024 134 01", 5);
    const unsigned char order[] = { 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0 };
    assert_int_equal(dae_matching_open(&m, &g.s, &memory), DAE_OK);
    assert_int_equal(dae_find_offsets(&g.s, order, &memory, c, d, &m, &index), DAE_OK);
    const uint32_t want_c[] = { 1, 1, 0, 0, 2 }, want_d[] = { 2, 2, 1, 1, 0 };
    assert_memory_equal(c, want_c, sizeof c);
    assert_memory_equal(d, want_d, sizeof d);
    assert_int_equal(index, 3);
    dae_matching_close(&m, &memory);
}

/* x_1' = x_2, ..., x_{k-1}' = x_k, x_1 = f(t): index k. */
static void test_offsets_of_a_chain(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 10; k++) {
        size_t start[11] = { 0 }, entries = 0;
        uint32_t column[32], c[10], d[10];
        unsigned char order[32];
        int index = -1;
        for (uint32_t i = 0; i + 1 < k; i++) {
            column[entries] = i, order[entries++] = 1;
            column[entries] = i + 1, order[entries++] = 0;
            start[i + 1] = entries;
        }
        column[entries] = 0, order[entries++] = 0;
        start[k] = entries;
        dae_structure s = { k, k, start, column };
        dae_matching m;
        assert_int_equal(dae_matching_open(&m, &s, &memory), DAE_OK);
        assert_int_equal(dae_find_offsets(&s, order, &memory, c, d, &m, &index), DAE_OK);
        assert_int_equal(index, k);
        assert_int_equal(c[k - 1], k - 1);
        dae_matching_close(&m, &memory);
    }
}

/* Random structures: the offsets satisfy Pryce's conditions, with equality on the matching. */
static void test_offsets_are_dual(void **state)
{
    (void)state;
    given g;
    for (int round = 0; round < 400; round++) {
        uint32_t n = 1 + draw(7), c[8], d[8];
        unsigned char order[512];
        int index;
        dae_matching m;
        scatter(&g, n, n, 40);
        for (size_t k = 0; k < g.start[n]; k++) order[k] = (unsigned char)draw(3);
        assert_int_equal(dae_matching_open(&m, &g.s, &memory), DAE_OK);
        int status = dae_find_offsets(&g.s, order, &memory, c, d, &m, &index);
        if (best_matching(&g.s, 0, 0) < (int)n) {
            assert_int_equal(status, DAE_E_STRUCTURE);
        } else {
            assert_int_equal(status, DAE_OK);
            uint32_t least = c[0];
            check_matching(&g.s, &m);
            for (uint32_t i = 0; i < n; i++) {
                if (c[i] < least) least = c[i];
                for (size_t k = g.start[i]; k < g.start[i + 1]; k++) {
                    assert_true(d[g.column[k]] >= c[i] + order[k]);
                    if (m.column_of[i] == g.column[k])
                        assert_int_equal(d[g.column[k]], c[i] + order[k]);
                }
            }
            assert_int_equal(least, 0);
        }
        dae_matching_close(&m, &memory);
    }
}

/* A line of n loops; the work per equation must not grow with n. */
static size_t work_of(uint32_t n)
{
    size_t *start = calloc(n + 1, sizeof *start);
    uint32_t *column = calloc(3 * (size_t)n, sizeof *column);
    uint32_t *order = calloc(n, sizeof *order), *begin = calloc(n + 1, sizeof *begin), blocks;
    size_t entries = 0;
    for (uint32_t i = 0; i < n; i++) { /* columns written so that the greedy pass errs */
        if (i + 1 < n) column[entries++] = i + 1;
        column[entries++] = i;
        if (i > 0 && i % 5 == 0) column[entries++] = i - 1;
        start[i + 1] = entries;
    }
    dae_structure s = { n, n, start, column };
    dae_matching m;
    assert_int_equal(dae_matching_open(&m, &s, &memory), DAE_OK);
    assert_int_equal(dae_match(&s, n, &memory, &m), DAE_OK);
    assert_int_equal(m.rank, n);
    assert_int_equal(dae_find_blocks(&s, &m, &memory, order, begin, &blocks), DAE_OK);
    assert_int_equal(begin[blocks], n);
    size_t visits = m.visits;
    dae_matching_close(&m, &memory);
    free(start), free(column), free(order), free(begin);
    return visits;
}

static void test_work_is_nearly_linear(void **state)
{
    (void)state;
    double small = (double)work_of(10000) / 1e4, large = (double)work_of(1000000) / 1e6;
    print_message("entries looked at per equation: %.2f at 1e4, %.2f at 1e6\n", small, large);
    assert_true(large < 2 * small);
}

static void test_every_allocation_refused(void **state)
{
    (void)state;
    given g;
    parse(&g, "02 13 024 134 01", 5);
    const unsigned char order[] = { 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0 };
    unsigned char solvable[16], row[8], column[8];
    memset(solvable, 1, sizeof solvable);
    for (long k = 1;; k++) {
        ledger l;
        dae_memory watched;
        dae_matching m = { 0 }, n = { 0 };
        dae_tearing t = { 0 };
        uint32_t c[5], d[5], rows[5], begin[6], blocks;
        int index;
        ledger_open(&l);
        dae_memory_init(&watched, &l.hook);
        ledger_fail(&l, k, 0);
        int status = dae_matching_open(&m, &g.s, &watched);
        if (status == DAE_OK) status = dae_match(&g.s, 5, &watched, &m);
        if (status == DAE_OK) status = dae_find_parts(&g.s, &m, &watched, row, column);
        if (status == DAE_OK) status = dae_find_blocks(&g.s, &m, &watched, rows, begin, &blocks);
        if (status == DAE_OK) status = dae_tearing_open(&t, 5, &watched);
        if (status == DAE_OK) status = dae_tear(&g.s, solvable, 8, &watched, &t);
        if (status == DAE_OK) status = dae_matching_open(&n, &g.s, &watched);
        if (status == DAE_OK) status = dae_find_offsets(&g.s, order, &watched, c, d, &n, &index);
        dae_matching_close(&m, &watched);
        dae_matching_close(&n, &watched);
        dae_tearing_close(&t, &watched);
        assert_int_equal(l.live, 0);
        if (l.refused == 0) {
            assert_int_equal(status, DAE_OK);
            assert_true(k > 10);
            break;
        }
        assert_int_equal(status, DAE_E_NOMEM);
    }
}

int main(void)
{
    dae_memory_init(&memory, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matching_is_largest),
        cmocka_unit_test(test_earlier_rows_have_priority),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_tearing),
        cmocka_unit_test(test_tearing_of_a_ring),
        cmocka_unit_test(test_offsets_of_the_pendulum),
        cmocka_unit_test(test_offsets_of_a_chain),
        cmocka_unit_test(test_offsets_are_dual),
        cmocka_unit_test(test_work_is_nearly_linear),
        cmocka_unit_test(test_every_allocation_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
