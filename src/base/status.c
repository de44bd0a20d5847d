/* status.c: the one table of statuses. */
#include "daedalus.h"
#include "base/status.h"

static const dae_status_row table[] = {
    { DAE_OK, "OK", 0, "success" },
    { DAE_RETRY, "RETRY", 7, "a callback asked for a smaller step" },
    { DAE_STOP, "STOP", 7, "a callback asked to stop" },
    { DAE_EVENT, "EVENT", 0, "an event was located" },
    { DAE_E_ARG, "E_ARG", 2, "an argument is NULL or makes no sense" },
    { DAE_E_STATE, "E_STATE", 2, "a call came out of order" },
    { DAE_E_DIM, "E_DIM", 2, "a size or length does not fit" },
    { DAE_E_OPTION, "E_OPTION", 2, "an option is unknown or out of range" },
    { DAE_E_TOL, "E_TOL", 2, "the tolerances cannot be met or mean nothing" },
    { DAE_E_TIME, "E_TIME", 2, "a time is not finite, not resolvable, or behind the solution" },
    { DAE_E_STEP, "E_STEP", 2, "the step bounds contradict each other" },
    { DAE_E_PATTERN, "E_PATTERN", 4, "a sparsity pattern is malformed or misses an entry" },
    { DAE_E_ALIAS, "E_ALIAS", 2, "two arguments share memory" },
    { DAE_E_VERSION, "E_VERSION", 2, "the caller was built against another header" },
    { DAE_E_STALE_HANDLE, "E_STALE_HANDLE", 2, "the handle is closed or was never a solver" },
    { DAE_E_REENTRANT, "E_REENTRANT", 2, "the solver was called from its own callback" },
    { DAE_E_NOMEM, "E_NOMEM", 9, "out of memory" },
    { DAE_E_LIMIT, "E_LIMIT", 9, "too large" },
    { DAE_E_NONFINITE, "E_NONFINITE", 6, "a value is NaN or infinite" },
    { DAE_E_NONFINITE_JAC, "E_NONFINITE_JAC", 6, "a Jacobian entry is NaN or infinite" },
    { DAE_E_JACOBIAN, "E_JACOBIAN", 6, "the Jacobian contradicts difference quotients" },
    { DAE_E_SINGULAR, "E_SINGULAR", 4, "the iteration matrix is singular" },
    { DAE_E_INCONSISTENT, "E_INCONSISTENT", 5, "no consistent initial values were found" },
    { DAE_E_CONVERGENCE, "E_CONVERGENCE", 6, "Newton's iteration keeps failing" },
    { DAE_E_STEP_UNDERFLOW, "E_STEP_UNDERFLOW", 6,
      "the step size fell below the resolution of time" },
    { DAE_E_SINGULARITY, "E_SINGULARITY", 6, "the solution grows without bound" },
    { DAE_E_IMPASSE, "E_IMPASSE", 6,
      "the solution cannot be continued: the leading matrix loses rank" },
    { DAE_E_CHATTER, "E_CHATTER", 6, "the solution is held at a jump of the equations" },
    { DAE_E_WORK, "E_WORK", 9, "the limit on steps was reached" },
    { DAE_E_REFUSED, "E_REFUSED", 7, "a callback refused however small the step" },
    { DAE_E_USER, "E_USER", 7, "a callback stopped the run" },
    { DAE_E_UNSET, "E_UNSET", 7, "a callback left part of its output unset" },
    { DAE_E_OVERRUN, "E_OVERRUN", 7, "a callback wrote past the end of its output" },
    { DAE_E_WROTE_INPUT, "E_WROTE_INPUT", 7, "a callback changed its input" },
    { DAE_E_NONDET, "E_NONDET", 7, "a callback answered the same question differently" },
    { DAE_E_IO, "E_IO", 8, "a file could not be read or written" },
    { DAE_E_SYNTAX, "E_SYNTAX", 3, "the model's text does not follow the grammar" },
    { DAE_E_MODEL, "E_MODEL", 3, "a name, type, size or value in the model is wrong" },
    { DAE_E_STRUCTURE, "E_STRUCTURE", 4, "too many, too few or contradictory equations" },
    { DAE_E_UNSUPPORTED, "E_UNSUPPORTED", 4, "understood, but not possible here" },
    { DAE_E_ASSERT, "E_ASSERT", 7, "an assertion of the model failed" },
    { DAE_E_COMPILER, "E_COMPILER", 11, "native code could not be made or loaded" },
    { DAE_E_INTERNAL, "E_INTERNAL", 70, "a bug in Daedalus" },
};

const dae_status_row *dae_status_find(int status)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((int)table[i].status == status) return &table[i];
    return NULL;
}

const dae_status_row *dae_status_list(int i)
{
    return i >= 0 && (size_t)i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const char *dae_status_name(int status)
{
    const dae_status_row *row = dae_status_find(status);
    return row ? row->name : "E_UNKNOWN";
}

const char *dae_status_sentence(int status)
{
    const dae_status_row *row = dae_status_find(status);
    return row ? row->sentence : "an unknown status";
}

int dae_status_exit_code(int status)
{
    const dae_status_row *row = dae_status_find(status);
    return row ? row->exit_code : 70;
}
