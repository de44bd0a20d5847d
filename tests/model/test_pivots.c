/* test_pivots.c: choices of columns against elimination by hand, on random sparse matrices. */
#include "testing.h"

#include "model/reduce/pivots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, TRIALS = 3000 };

static uint64_t bits = 88172645463325252u;

static double chance(void) /* in (0, 1) */
{
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    return (double)(bits >> 11) / 9007199254740992.0;
}

typedef struct sample {
    uint32_t rows, columns, at[MOST * MOST];
    size_t start[MOST + 1];
    double value[MOST * MOST];
    unsigned char row[MOST], column[MOST];
    int class_of[MOST];
    pivot_matrix m;
    pivot_part part;
} sample;

/* About three entries in a row, one of them in a place of its own: rows are independent, mostly. */
static void make_sample(sample *s)
{
    memset(s, 0, sizeof *s);
    s->rows = 1 + (uint32_t)(chance() * (MOST - 5));
    s->columns = s->rows + (uint32_t)(chance() * 5);
    size_t count = 0;
    for (uint32_t i = 0; i < s->rows; i++) {
        for (uint32_t j = 0; j < s->columns; j++)
            if (j == (i * 7) % s->columns || chance() < 2.0 / s->columns) {
                s->at[count] = j;
                s->value[count++] = 2 * chance() - 1;
            }
        s->start[i + 1] = count;
        s->row[i] = 1;
    }
    for (uint32_t j = 0; j < s->columns; j++) {
        s->column[j] = 1;
        s->class_of[j] = (int)(chance() * 3);
    }
    s->m = (pivot_matrix){ s->rows, s->columns, s->start, s->at, s->value };
    s->part = (pivot_part){ s->row, s->column, NULL };
}

static void unfold(const sample *s, double *A)
{
    memset(A, 0, (size_t)s->rows * s->columns * sizeof *A);
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++)
            A[i * s->columns + s->at[e]] = s->value[e];
}

static double row_size(const sample *s, uint32_t i)
{
    double most = 0;
    for (size_t e = s->start[i]; e < s->start[i + 1]; e++) most = fmax(most, fabs(s->value[e]));
    return most;
}

/* The worst pivot in this order, as in a textbook. */
static double by_hand(const sample *s, const pivot_order *o)
{
    static double A[MOST * MOST];
    double worst = INFINITY;
    unfold(s, A);
    for (uint32_t p = 0; p < o->count; p++) {
        const double *from = A + o->row[p] * s->columns;
        worst = fmin(worst, fabs(from[o->column[p]]) / row_size(s, o->row[p]));
        for (uint32_t q = p + 1; q < o->count; q++) {
            double *row = A + o->row[q] * s->columns;
            double f = row[o->column[p]] / from[o->column[p]];
            for (uint32_t j = 0; j < s->columns; j++) row[j] -= f * from[j];
        }
    }
    return worst;
}

static void open_arena(dae_arena *a, jmp_buf *escape)
{
    dae_arena_init(a, NULL, 0);
    a->escape = escape;
}

static void check_order(const sample *s, const pivot_order *o)
{
    unsigned char row[MOST] = { 0 }, column[MOST] = { 0 };
    assert_true(o->whole);
    assert_int_equal(o->count, s->rows);
    for (uint32_t p = 0; p < o->count; p++) {
        assert_false(row[o->row[p]] || column[o->column[p]]);
        row[o->row[p]] = column[o->column[p]] = 1;
        assert_int_equal(o->place[o->column[p]], p + 1);
    }
}

/* Found, tried again with the same numbers, and with others. */
static void test_again(void **state)
{
    (void)state;
    dae_arena a;
    jmp_buf escape;
    open_arena(&a, &escape);
    assert_int_equal(setjmp(escape), 0);
    pivot_room *room = pivot_room_make(NULL, MOST, MOST, &a);
    pivot_order o;
    pivot_order_make(&o, MOST, MOST, &a);
    int regular = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        sample s;
        make_sample(&s);
        double worst = pivots_find(room, &s.m, &s.part, &o);
        if (worst == 0) {
            assert_true(pivots_again(room, &s.m, &o, NULL) == 0); /* no order: no answer but this */
            continue;
        }
        regular++;
        check_order(&s, &o);
        assert_true(fabs(worst - by_hand(&s, &o)) <= 1e-12);
        assert_true(fabs(worst - pivots_again(room, &s.m, &o, NULL)) <= 1e-12);
        for (size_t e = 0; e < s.start[s.rows]; e++) s.value[e] += 0.1 * (chance() - 0.5);
        double then = by_hand(&s, &o);
        assert_true(fabs(then - pivots_again(room, &s.m, &o, NULL)) <= 1e-9 * (1 + then / worst));
    }
    assert_true(regular > TRIALS / 4);
    dae_arena_release(&a);
}

/* A row that is the sum of others is found out; a column that does not count is not taken. */
static void test_dependent_rows(void **state)
{
    (void)state;
    dae_arena a;
    jmp_buf escape;
    open_arena(&a, &escape);
    assert_int_equal(setjmp(escape), 0);
    const size_t start[] = { 0, 2, 4, 7 };
    const uint32_t at[] = { 0, 1, 1, 2, 0, 1, 2 };
    const double value[] = { 1, 2, 3, -1, 1, 5, -1 };
    const unsigned char all[] = { 1, 1, 1 }, two[] = { 1, 1, 0 }, outer[] = { 1, 0, 1 };
    pivot_matrix m = { 3, 3, start, at, value };
    pivot_room *room = pivot_room_make(NULL, 3, 3, &a);
    pivot_order o;
    pivot_order_make(&o, 3, 3, &a);
    assert_true(pivots_find(room, &m, &(pivot_part){ all, all, NULL }, &o) == 0);
    assert_false(o.whole);
    assert_true(pivots_find(room, &m, &(pivot_part){ two, outer, NULL }, &o) > 0);
    check_order(&(sample){ .rows = 2 }, &o);
    assert_true(o.place[1] == 0);
    dae_arena_release(&a);
}

/* Of equal size the wanted column is taken; a poor pivot is not excused. */
static void test_classes(void **state)
{
    (void)state;
    dae_arena a;
    jmp_buf escape;
    open_arena(&a, &escape);
    assert_int_equal(setjmp(escape), 0);
    const size_t start[] = { 0, 3 };
    const uint32_t at[] = { 0, 1, 2 };
    const double value[] = { 1, 0.9, 0.1 };
    const unsigned char all[] = { 1, 1, 1 };
    const int wish[] = { 2, 1, 0 };
    pivot_matrix m = { 1, 3, start, at, value };
    pivot_room *room = pivot_room_make(NULL, 1, 3, &a);
    pivot_order o;
    pivot_order_make(&o, 1, 3, &a);
    pivots_find(room, &m, &(pivot_part){ all, all, wish }, &o);
    assert_int_equal(o.column[0], 1);
    pivots_find(room, &m, &(pivot_part){ all, all, NULL }, &o);
    assert_int_equal(o.column[0], 0);
    dae_arena_release(&a);
}

/* Pivots relative to sizes do not know of units: rows and columns times anything, entries and sizes alike,
 * and powers of a time besides. And with one row that is a multiple of another there are none. */
static void test_beside_sizes(void **state)
{
    static sample s;
    static double size[MOST * MOST], work[2 * MOST * MOST + 2 * MOST], row[MOST], column[MOST];
    static uint32_t place[2 * MOST];
    (void)state;
    int regular = 0;
    for (int trial = 0; trial < 1000; trial++) {
        make_sample(&s);
        size_t entries = s.start[s.rows];
        for (uint32_t i = 0; i < s.rows; i++) row[i] = pow(10, 12 * chance() - 6);
        for (uint32_t j = 0; j < s.columns; j++) column[j] = pow(10, 12 * chance() - 6);
        for (size_t e = 0; e < entries; e++) size[e] = fabs(s.value[e]) * (1 + chance());
        double before = pivots_beside(&s.m, size, s.row, false, 0, work, place);
        for (uint32_t i = 0; i < s.rows; i++)
            for (size_t e = s.start[i]; e < s.start[i + 1]; e++) {
                s.value[e] *= row[i] * column[s.at[e]];
                size[e] *= row[i] * column[s.at[e]];
            }
        double after = pivots_beside(&s.m, size, s.row, false, 0, work, place);
        assert_true(fabs(after - before) <= 1e-6 * before + 1e-12);
        regular += before > 0.02;
        if (s.rows < 2 || s.start[2] != 2 * s.start[1]) continue;
        for (size_t e = 0; e < s.start[1]; e++) {
            s.at[s.start[1] + e] = s.at[e];
            s.value[s.start[1] + e] = -3 * s.value[e];
            size[s.start[1] + e] = 3 * size[e];
        }
        assert_true(pivots_beside(&s.m, size, s.row, false, 0, work, place) < 1e-12);
        assert_true(pivots_beside(&s.m, size, s.row, true, 0, work, place) < 1e-9);
    }
    assert_true(regular > 300);
    /* x' - u = 0, y' - v = 0, 2 x x' + 2 y y' = 0 at x = 0, y = 1, where u and v are 6e-4 */
    const size_t start[] = { 0, 2, 4, 6 };
    const uint32_t at[] = { 0, 2, 1, 3, 0, 1 };
    const double value[] = { 1, -6e-4, 1, -6e-4, 0, 2 }, so_far[] = { 1, 6e-4, 1, 6e-4, 2, 2 };
    const unsigned char all[] = { 1, 1, 1, 1 };
    pivot_matrix m = { 3, 4, start, at, value };
    expect_near(pivots_beside(&m, so_far, all, false, 0, work, place), 1, 1e-12);
    expect_near(pivots_beside(&m, so_far, all, true, 0, work, place), 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_dependent_rows),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_beside_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
