/* expressions.h: what the tests of expressions share. */
#ifndef EXPRESSIONS_H
#define EXPRESSIONS_H

#include "testing.h"

#include "expression/program.h"

enum { VARIABLES = 6 };

typedef struct bench {
    dae_arena arena;
    dae_memory memory;
    ex_graph g;
    jmp_buf escape;
    ex_id x[VARIABLES];
} bench;

enum { POOL = 60 };

/* A graph with six Real variables. */
void set_up(bench *t);
void tear_down(bench *t);

/* The value by a plain recursive function that shares no code with the machine. */
double plainly(const ex_graph *g, ex_id e, const double *x);
void agree(bench *t, ex_id e, double got, double want, double tolerance); /* or the test fails */

double between(double low, double high);
/* POOL expressions of growing depth, and a point where all are defined. */
void random_pool(bench *t, ex_id *pool, double *x);

/* POOL expressions with ifs, ands and ors around calls that fail where their argument is not positive;
 * the same ones in several branches. */
void random_guarded(bench *t, ex_id *pool);
/* The value of such an expression, of calls only those it needs; false: one of these fails. */
bool lazily(const ex_graph *g, ex_id e, const double *x, double *value);

/* power(x, n) = (x^n, n) by a loop */
uint32_t make_power(ex_graph *g);
/* fall(x) = if x <= 0.5 then x^2 else x fall(x - 1), by recursion in an expression */
uint32_t make_fall(ex_graph *g);
/* table(i, x) = x^i by way of an array of 4; -1 for i < 0; assert(i < 10, "big") at { 3, 14 } */
uint32_t make_table(ex_graph *g, uint32_t power);
/* root(x) = (sqrt(x), x + 1), assert(x > 0) */
uint32_t make_root(ex_graph *g);
uint32_t make_endless(ex_graph *g, bool deep); /* a loop, or calls */
ex_id call1(ex_graph *g, uint32_t number, ex_id a);
ex_id table_at(bench *t, uint32_t table, double i); /* table(i, x[0]) */

#endif
