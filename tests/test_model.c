/* test_model.c: flat equations to numbers: models with exact solutions. */
#include "modeling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double decay(double t) { return exp(-2 * t); }

static void test_decay(void **state)
{
    (void)state;
    trial_model w;
    trial_open(&w, "model M parameter Real k = 2; Real x(start = 1, fixed = true), y; "
                   "equation der(x) = -k*x; y = 3*x + time; end M;", NULL);
    expect_good(&w, model_status(w.m));
    expect_good(&w, trial_run(&w, 2, 1e-8));
    expect_below(trial_error(&w, "x", decay), 1e-6);
    expect_near(trial_last(&w, "y"), 3 * exp(-4) + 2, 1e-6);
    expect_near(trial_last(&w, "der(x)"), -2 * exp(-4), 1e-6);
    dae_model_facts f = {0};
    model_get_facts(w.m, &f);
    assert_int_equal(f.unknowns, 1);
    assert_int_equal(f.states, 1);
    trial_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
