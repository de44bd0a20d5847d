/* vm.c: what an evaluation of a model's equations costs: a walk over the tree, the machine, its
 * tangents (per lane), native code.
 *
 * The model: n residuals of x and x', 6.4 operations each, 60 % of them with one of sin, exp,
 * sqrt. Times are the least of many repeats. The walk is the most obvious program: a recursive
 * function over nodes in memory, shared expressions computed where they occur.
 *
 *     bench_vm [number of equations ...]
 */
#include "expression/native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---------------------------------------------------------------- the model ------------- */

static uint64_t chance = 7;

static uint32_t below(uint32_t n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((chance >> 33) % n);
}

static ex_id term(ex_graph *g, uint32_t i, uint32_t n)
{
    uint32_t near = (i + n - 3 + below(7)) % n;
    return ex_variable(g, near, 0, EX_REAL);
}

static ex_id constant(ex_graph *g)
{
    return ex_number(g, 0.1 + below(1000) / 1000.0);
}

/* f(x): 1 or 2 operations */
static ex_id function(ex_graph *g, ex_id x)
{
    switch (below(3)) {
    case 0: return ex_unary(g, EX_SIN, x);
    case 1: return ex_unary(g, EX_EXP, ex_unary(g, EX_NEGATE, x));
    default: return ex_unary(g, EX_SQRT, ex_binary(g, EX_ADD, x, ex_number(g, 2)));
    }
}

/* x' + a x_j - b x_k f(x_l) + ..., 6.4 operations on average */
static ex_id residual(ex_graph *g, uint32_t i, uint32_t n)
{
    ex_id f = below(10) < 6 ? function(g, term(g, i, n)) : term(g, i, n);
    ex_id a = ex_binary(g, EX_MULTIPLY, constant(g), term(g, i, n));
    ex_id b = ex_binary(g, EX_MULTIPLY, term(g, i, n), f);
    ex_id r = ex_binary(g, EX_SUBTRACT, ex_variable(g, i, 1, EX_REAL), a);
    r = ex_binary(g, EX_ADD, r, b);
    if (below(10) < 7)
        r = ex_binary(g, EX_SUBTRACT, r, ex_binary(g, EX_DIVIDE, term(g, i, n), constant(g)));
    return r;
}

/* ---------------------------------------------------------------- a walk ---------------- */

typedef struct tree {
    ex_op op;
    struct tree *a, *b;
    double number;
    size_t input;
} tree;

static tree *grow(const ex_graph *g, ex_id e, uint32_t n)
{
    const ex_node *q = ex_at(g, e);
    tree *t = calloc(1, sizeof *t);
    if (!t) exit(1);
    t->op = q->op;
    if (q->op == EX_NUMBER) t->number = g->number[q->a];
    if (q->op == EX_VARIABLE) t->input = q->a + (q->b ? n : 0);
    if (ex_ops[q->op].operands > 0) t->a = grow(g, q->a, n);
    if (ex_ops[q->op].operands > 1) t->b = grow(g, q->b, n);
    return t;
}

static void fell(tree *t)
{
    if (!t) return;
    fell(t->a);
    fell(t->b);
    free(t);
}

static double walk(const tree *t, const double *x)
{
    switch (t->op) {
    case EX_NUMBER: return t->number;
    case EX_VARIABLE: return x[t->input];
    case EX_NEGATE: return -walk(t->a, x);
    case EX_SIN: return sin(walk(t->a, x));
    case EX_EXP: return exp(walk(t->a, x));
    case EX_SQRT: return sqrt(walk(t->a, x));
    case EX_ADD: return walk(t->a, x) + walk(t->b, x);
    case EX_SUBTRACT: return walk(t->a, x) - walk(t->b, x);
    case EX_MULTIPLY: return walk(t->a, x) * walk(t->b, x);
    case EX_DIVIDE: return walk(t->a, x) / walk(t->b, x);
    default: return NAN;
    }
}

/* ---------------------------------------------------------------- timing ---------------- */

typedef struct subject {
    uint32_t n;
    tree **tree;
    ex_machine *machine;
    ex_native *native;
    double *x, *dx, *y, *dy;
} subject;

static void by_walk(subject *s)
{
    for (uint32_t i = 0; i < s->n; i++) s->y[i] = walk(s->tree[i], s->x);
}

static void by_machine(subject *s)
{
    ex_run(s->machine, s->x, s->y);
}

static void by_lanes(subject *s)
{
    ex_run_tangents(s->machine, s->x, s->dx, s->y, s->dy);
}

static void by_native(subject *s)
{
    ex_native_run(s->native, s->x, s->y);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of the compiler: seconds of processor time. */
static double children(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* ns per call, the least of many */
static double least(void (*run)(subject *s), subject *s)
{
    double best = INFINITY, began = now();
    int calls = s->n < 500 ? 50 : 4;
    while (now() - began < 5e8) {
        double before = now();
        for (int k = 0; k < calls; k++) run(s);
        double each = (now() - before) / calls;
        best = each < best ? each : best;
    }
    return best;
}

static void say(const char *what, double ns, double reference)
{
    printf("  %-34s %10.0f ns   %5.2f times the walk's speed\n", what, ns, reference / ns);
}

/* ---------------------------------------------------------------- a size ---------------- */

static void fill(subject *s, ex_graph *g, ex_id *input, ex_id *output)
{
    for (uint32_t i = 0; i < s->n; i++) {
        input[i] = ex_variable(g, i, 0, EX_REAL);
        input[s->n + i] = ex_variable(g, i, 1, EX_REAL);
        s->x[i] = 0.5 + below(1000) / 1000.0;
        s->x[s->n + i] = below(1000) / 1000.0;
        s->dx[(size_t)i * EX_LANES + i % EX_LANES] = 1;
    }
    for (uint32_t i = 0; i < s->n; i++) output[i] = residual(g, i, s->n);
}

static double difference(subject *s, double *was)
{
    double most = 0;
    for (uint32_t i = 0; i < s->n; i++) most = fmax(most, fabs(s->y[i] - was[i]));
    return most;
}

static void measure(uint32_t n)
{
    dae_arena arena;
    jmp_buf escape;
    ex_graph g;
    subject s = { .n = n };
    dae_report report = { 0 };
    dae_arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    if (setjmp(escape)) exit(1);
    ex_graph_init(&g, &arena);
    s.x = dae_arena_take(&arena, 2 * (size_t)n, sizeof(double));
    s.dx = dae_arena_take(&arena, 2 * (size_t)n * EX_LANES, sizeof(double));
    s.y = dae_arena_take(&arena, n, sizeof(double));
    s.dy = dae_arena_take(&arena, (size_t)n * EX_LANES, sizeof(double));
    double *was = dae_arena_take(&arena, n, sizeof(double));
    ex_id *input = dae_arena_take(&arena, 2 * (size_t)n, sizeof *input);
    ex_id *output = dae_arena_take(&arena, n, sizeof *output);
    s.tree = dae_arena_take(&arena, n, sizeof *s.tree);
    fill(&s, &g, input, output);

    double before = now();
    ex_program *p = ex_compile(&g, input, 2 * (size_t)n, output, n, &arena.memory, NULL);
    double compiled = now() - before;
    s.machine = p ? ex_machine_open(p, &arena.memory) : NULL;
    if (!s.machine) exit(1);
    for (uint32_t i = 0; i < n; i++) s.tree[i] = grow(&g, output[i], n);
    printf("%u equations, %.1f instructions each, compiled in %.2f ms\n", n,
           (double)ex_program_instructions(p) / n, compiled * 1e-6);
    double reference = least(by_walk, &s);
    memcpy(was, s.y, n * sizeof *was);
    say("tree walk", reference, reference);
    say("machine", least(by_machine, &s), reference);
    if (difference(&s, was) > 1e-14)
        printf("  machine and walk differ by %g\n", difference(&s, was));
    say("machine, tangents, per lane", least(by_lanes, &s) / EX_LANES, reference);
    before = children();
    s.native =
        ex_native_open(&g, input, 2 * (size_t)n, output, n, NULL, &arena.memory, NULL, &report);
    if (s.native) {
        printf("  native code made in %.2f s of processor time\n", children() - before);
        say("native", least(by_native, &s), reference);
        if (difference(&s, was) > 1e-14)
            printf("  native code and walk differ by %g\n", difference(&s, was));
    } else {
        printf("  no native code:\n%s\n", report.text);
    }
    for (uint32_t i = 0; i < n; i++) fell(s.tree[i]);
    ex_native_close(s.native);
    ex_machine_close(s.machine);
    ex_program_free(p);
    dae_arena_release(&arena);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        measure(50);
        measure(2000);
    }
    for (int k = 1; k < argc; k++) measure((uint32_t)strtoul(argv[k], NULL, 10));
    return 0;
}
