/* modelica_testing.h: texts of models in tests: read them, write them, or say what is wrong. */
#ifndef MODELICA_TESTING_H
#define MODELICA_TESTING_H

#include "modelica/ast.h"

/* The text must be right: otherwise what was said is printed and the test fails. */
mo_file *parse_file(mo_context *c, const char *text);
mo_ast *parse_expression(mo_context *c, const char *text);

/* Opens c and reads a text, right or wrong. Returns the status of a fatal error, else DAE_OK. */
dae_status read_text(mo_context *c, const char *text);
dae_status read_bytes(mo_context *c, const char *text, size_t length);

#endif
