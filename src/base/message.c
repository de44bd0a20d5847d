/* message.c: failures in words. */
#include "base/message.h"
#include "base/status.h"
#include "base/float_check.h"

#include <stdarg.h>
#include <stdio.h>

void dae_report_clear(dae_report *m)
{
    m->status = DAE_OK;
    m->length = 0;
    m->text[0] = '\0';
}

static void append(dae_report *m, const char *head, const char *format, va_list list)
{
    size_t room = sizeof m->text - m->length;
    if (room < 2) return;
    int k = snprintf(m->text + m->length, room, "%s", head);
    m->length += k < 0 ? 0 : (size_t)k < room ? (size_t)k : room - 1;
    room = sizeof m->text - m->length;
    k = vsnprintf(m->text + m->length, room, format, list);
    m->length += k < 0 ? 0 : (size_t)k < room ? (size_t)k : room - 1;
}

dae_status dae_fail(dae_report *m, dae_status status, const char *what, ...)
{
    char head[48];
    va_list list;
    dae_report_clear(m);
    m->status = status;
    snprintf(head, sizeof head, "error[%s]: ", dae_status_name(status));
    va_start(list, what);
    append(m, head, what, list);
    va_end(list);
    return status;
}

void dae_at(dae_report *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    append(m, "\n  at: ", format, list);
    va_end(list);
}

void dae_why(dae_report *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    append(m, "\n  why: ", format, list);
    va_end(list);
}

void dae_hint(dae_report *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    append(m, "\n  hint: ", format, list);
    va_end(list);
}

dae_status dae_fail_arg(dae_report *m, dae_status status, const char *function,
                        const char *argument, const char *is)
{
    dae_fail(m, status, "%s: argument '%s' %s", function, argument, is);
    dae_hint(m, "see %s in the header that declares it", function);
    return status;
}
