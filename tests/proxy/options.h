/* SPDX-License-Identifier: MIT */
/* options.h - what fault-proxy is told on its command line. */
#ifndef HILL_PROXY_OPTIONS_H
#define HILL_PROXY_OPTIONS_H

#include <stdint.h>

#include "tests/proxy/flow.h"

struct options {
	uint16_t listen_port, target_port; /* on 127.0.0.1 */
	uint64_t seed;
	int receive_bytes
		[FLOW_NDIRECTIONS]; /* of the sockets; 0: the kernel's */
	struct flow_faults faults[FLOW_NDIRECTIONS];
};

/* Read the command line; --help, and what does not fit, end the program. */
void options_read(struct options *options, int argc, char **argv);

#endif
