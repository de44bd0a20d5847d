/* ways.h: what those who open a solver from inside say of themselves. */
#ifndef DAE_INTEGRATE_WAYS_H
#define DAE_INTEGRATE_WAYS_H

/* In dae_options.expect: whoever opens the solver has words and ways of its own when a run fails. */
enum { DAE_EXPECT_WAYS = 1 << 16 };

#endif
