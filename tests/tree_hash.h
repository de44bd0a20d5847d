/* tree_hash.h: a number for all that a tree holds except places: equal trees, equal numbers. */
#ifndef TREE_HASH_H
#define TREE_HASH_H

#include "modelica/ast.h"

uint64_t hash_of_file(const mo_file *f);
uint64_t hash_of_expression(const mo_ast *e);

#endif
