/* SPDX-License-Identifier: MIT */
/* unit.h - what every cmocka test includes, in the order cmocka wants it. */
#ifndef HILL_TESTS_UNIT_UNIT_H
#define HILL_TESTS_UNIT_UNIT_H

#ifdef NDEBUG
#error "tests need assert()"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
