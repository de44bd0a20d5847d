/* text.h: pieces of expressions as text, for whole classes (text_class.c). */
#ifndef DAE_MODELICA_TEXT_H
#define DAE_MODELICA_TEXT_H

#include "modelica/ast.h"
#include "modelica/writer.h"

void mo_put_expression(mo_writer *w, const mo_ast *e); /* NULL: nothing */
void mo_put_left_side(mo_writer *w, const mo_ast *e);  /* of an equation or statement */
void mo_put_reference(mo_writer *w, const mo_reference *r);
void mo_put_iterators(mo_writer *w, const mo_iterator *it, int count); /* " i in 1:n, j" */
void mo_put_string(mo_writer *w, const char *text);                    /* between quotes, escaped */

#endif
