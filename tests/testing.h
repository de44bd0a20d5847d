/* testing.h: what the test programs share: an allocator that keeps books, a small system
 * with switchable faults, and checks that print the solver's message when they fail.
 */
#ifndef TESTING_H
#define TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedalus.h"
#include "problems.h"

/* Is memory watched, which makes everything slow? */
#ifdef __SANITIZE_ADDRESS__
enum { sanitized = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { sanitized = 1 };
#else
enum { sanitized = 0 };
#endif
#else
enum { sanitized = 0 };
#endif

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- an allocator that keeps books ---- */

typedef struct ledger {
    long live;    /* blocks not yet released */
    long taken;   /* blocks taken since the beginning, refusals not counted */
    long asked;   /* requests, refusals counted */
    long fail_at; /* > 0: refuse the fail_at-th request counted from now ... */
    int forever;  /* ... and all after it */
    long refused;
    size_t limit; /* > 0: refuse larger blocks */
    int hold;     /* 1: released blocks stay readable until ledger_empty */
    long damaged; /* blocks written past their end, or released twice */
    struct held *first_held;
    dae_allocator hook;
} ledger;

void ledger_open(ledger *l);
void ledger_fail(ledger *l, long k, int forever); /* k = 0: no more refusals */
void ledger_empty(ledger *l);                     /* frees held blocks */

/* ---- checks ---- */

/* got must be want; otherwise the message of s is printed. */
void check_status(dae_solver *s, dae_status got, dae_status want, const char *file, int line);
#define expect(s, got, want) check_status(s, got, want, __FILE__, __LINE__)

/* The message of s must contain every one of the words (NULL ends the list). */
void check_message(const dae_solver *s, const char *file, int line, ...);
#define expect_words(s, ...) check_message(s, __FILE__, __LINE__, __VA_ARGS__, (char *)NULL)

/* A number printed after `label` in the message of s; fails if there is none. */
double number_after(const dae_solver *s, const char *label);

#define expect_near(got, want, tolerance) check_near(got, want, tolerance, #got, __FILE__, __LINE__)
void check_near(double got, double want, double tolerance, const char *what, const char *file,
                int line);
#define expect_below(got, bound) check_below(got, bound, #got, __FILE__, __LINE__)
void check_below(double got, double bound, const char *what, const char *file, int line);

/* What must hold after any failed run: status and message agree, the last accepted point can
 * be read, it is finite, a refused read leaves its outputs alone. */
void check_aftermath(dae_solver *s, int n, int m, dae_status status);

/* ---- a small system with switchable faults ----
 *
 *     level' = -level + valve        equation 'balance'
 *     flow'  = level - 2 flow        equation 'momentum'
 *     0      = valve - level / 2     equation 'closure'
 *
 * from (1, 1, 1/2); level = exp(-t / 2), valve = level / 2,
 * flow = (2 exp(-t/2) + exp(-2 t)) / 3. */
enum { LEVEL, FLOW, VALVE };

typedef enum tank_fault {
    TANK_SOUND = 0,
    TANK_VALUE,        /* row `row` gets `value` when t > after */
    TANK_ANSWER,       /* answers `answer` when t > after */
    TANK_VALUE_ALWAYS, /* the same without regard to t */
    TANK_UNSET,        /* row `row` is not written when t > after */
    TANK_OVERRUN,      /* one entry too many is written when t > after */
    TANK_WRITES_X,     /* x[row] is changed when t > after */
    TANK_WRITES_XDOT,
    TANK_RANDOM,        /* row `row` differs from call to call when t > after */
    TANK_RANDOM_ANSWER, /* every second call answers DAE_RETRY when t > after */
    TANK_JACOBIAN       /* entry (row, column) of jacobian_x gets `value` when t > after */
} tank_fault;

typedef struct tank {
    tank_fault fault;
    double after, value;
    int row, column, answer;
    long calls;       /* of residual or rhs */
    long calls_after; /* of these, with t > after */
    long jacobians;
    double t_last;                     /* the largest t at which the equations were asked */
    void (*inside)(struct tank *self); /* called from within the residual */
    dae_solver *solver;
    long seen; /* for `inside` */
} tank;

extern const double tank_x0[3], tank_xdot0[3];
extern const char *const tank_names[3], *const tank_equations[3];

void tank_exact(double t, double x[3]);
dae_problem tank_implicit(tank *user);      /* residual, differences */
dae_problem tank_with_jacobian(tank *user); /* residual, jacobian_x, jacobian_xdot */
dae_problem tank_mass(tank *user);          /* diagonal mass, rhs */
dae_problem tank_leading(tank *user);       /* d = (level, flow) */

/* ---- problems of the collection ---- */

typedef struct subject {
    problem_instance p;
    int n, m;
    double rtol, atol;
} subject;

/* setting may be NULL. */
void subject_open(subject *q, const char *name, const char *form, const char *setting,
                  double value);
void subject_close(subject *q);
/* Runs from t0 to t (NaN: the end) with these options; x receives n values. */
dae_status subject_run(const subject *q, const dae_options *o, double t, double *x,
                       dae_statistics *statistics, char message[400]);
double largest_difference(const double *a, const double *b, int n);

double *numbers(int count); /* zeroed, never NULL */

#endif
