/* SPDX-License-Identifier: MIT */
#include "tests/proxy/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	US_PER_MS = 1000,
	RTO_MS = 200,
	PPM_PER_PERCENT = 10000,
	BUFFER_BYTES = 262144
};

static const char help[] =
	"usage: fault-proxy --target PORT [--listen PORT] [OPTION...]\n"
	"A TCP proxy on 127.0.0.1 whose line has faults. Prints `listening "
	"PORT`.\n\n"
	"VALUE may begin with `up:` (client to target) or `down:`; else it is "
	"for both.\n"
	"  --listen PORT        0, the default: the kernel chooses\n"
	"  --target PORT        where to connect to, once for each client\n"
	"  --seed N             of the choices below; 1\n"
	"  --delay MS           each chunk is so late; decimals are fine\n"
	"  --jitter MS          plus or minus so much; chunks stay in order\n"
	"  --segment BYTES      cut into chunks of so many; 1 is possible\n"
	"  --split BYTES|walk   cut what came in two, behind so many bytes, or "
	"at\n"
	"                       another point each time\n"
	"  --gap MS             between two chunks, so that they stay apart\n"
	"  --rate BYTES         so many a second\n"
	"  --buffer BYTES       hold so many, then stop reading; also the "
	"sockets'\n"
	"                       buffers for reading; 262144 and the kernel's\n"
	"  --loss PERCENT       of the chunks are held back, as a TCP would "
	"repeat\n"
	"                       them: by --rto plus the RTT (the delays), twice "
	"that\n"
	"                       when lost again, and so on; the rest waits "
	"behind\n"
	"  --rto MS             200\n"
	"  --cut-after BYTES    close both sides when so many have passed\n"
	"  --reset-after BYTES  likewise, with RST\n"
	"  --silence-after BYTES  forward no more, and keep the link\n"
	"\n"
	"A chunk is what one read gave, at most 1448 bytes, if not cut "
	"further. The\n"
	"choices depend on the seed, the number of the link, the direction and "
	"the\n"
	"number of the chunk, and on nothing else.\n"
	"\n"
	"Standard input takes commands, one a line, and ends the program when "
	"it ends:\n"
	"  cut|reset|silence|speak [LINK]   on one link (from 1), or on all; "
	"`ok N`\n"
	"  stats                            links, chunks, held back, bytes\n";

enum word {
	OPTION_LISTEN = 1000,
	OPTION_TARGET,
	OPTION_SEED,
	OPTION_DELAY,
	OPTION_JITTER,
	OPTION_SEGMENT,
	OPTION_SPLIT,
	OPTION_GAP,
	OPTION_RATE,
	OPTION_BUFFER,
	OPTION_LOSS,
	OPTION_RTO,
	OPTION_CUT_AFTER,
	OPTION_RESET_AFTER,
	OPTION_SILENCE_AFTER,
	OPTION_HELP
};

static const struct option_name {
	const char *name;
	enum word option;
} names[] = {
	{ "listen", OPTION_LISTEN },
	{ "target", OPTION_TARGET },
	{ "seed", OPTION_SEED },
	{ "delay", OPTION_DELAY },
	{ "jitter", OPTION_JITTER },
	{ "segment", OPTION_SEGMENT },
	{ "split", OPTION_SPLIT },
	{ "gap", OPTION_GAP },
	{ "rate", OPTION_RATE },
	{ "buffer", OPTION_BUFFER },
	{ "loss", OPTION_LOSS },
	{ "rto", OPTION_RTO },
	{ "cut-after", OPTION_CUT_AFTER },
	{ "reset-after", OPTION_RESET_AFTER },
	{ "silence-after", OPTION_SILENCE_AFTER },
	{ "help", OPTION_HELP },
};

enum { NNAMES = sizeof(names) / sizeof(names[0]) };

static void __attribute__((noreturn))
refuse(const char *name, const char *value)
{
	(void)fprintf(stderr, "fault-proxy: --%s: '%s' does not fit\n", name,
		      value);
	exit(2);
}

/* A number from 0 to MOST, times SCALE. */
static int64_t number(const char *name, const char *text, double scale,
		      double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= 0 && value <= most))
		refuse(name, text);
	return (int64_t)(value * scale + 0.5);
}

static void set_fault(struct flow_faults *faults, enum word option,
		      const char *name, const char *text)
{
	const double most_ms = 1e6, most_bytes = 1e12;

	if (option == OPTION_DELAY)
		faults->delay_us = number(name, text, US_PER_MS, most_ms);
	else if (option == OPTION_JITTER)
		faults->jitter_us = number(name, text, US_PER_MS, most_ms);
	else if (option == OPTION_GAP)
		faults->gap_us = number(name, text, US_PER_MS, most_ms);
	else if (option == OPTION_RTO)
		faults->rto_us = number(name, text, US_PER_MS, most_ms);
	else if (option == OPTION_SEGMENT)
		faults->segment = (size_t)number(name, text, 1, most_bytes);
	else if (option == OPTION_SPLIT && strcmp(text, "walk") == 0)
		faults->split = FLOW_SPLIT_WALK;
	else if (option == OPTION_SPLIT)
		faults->split = (size_t)number(name, text, 1, most_bytes);
	else if (option == OPTION_RATE)
		faults->rate = number(name, text, 1, most_bytes);
	else if (option == OPTION_BUFFER)
		faults->buffer = (size_t)number(name, text, 1, INT32_MAX / 2);
	else if (option == OPTION_LOSS)
		faults->loss_ppm =
			(uint32_t)number(name, text, PPM_PER_PERCENT, 100);
	else
		faults->after[option - OPTION_CUT_AFTER] =
			number(name, text, 1, most_bytes);
}

static void set_option(struct options *options, enum word option,
		       const char *name, const char *text)
{
	bool is_up = strncmp(text, "up:", 3) == 0;
	bool is_down = strncmp(text, "down:", 5) == 0;

	switch (option) {
	case OPTION_HELP:
		(void)fputs(help, stdout);
		exit(0);
	case OPTION_LISTEN:
		options->listen_port =
			(uint16_t)number(name, text, 1, UINT16_MAX);
		return;
	case OPTION_TARGET:
		options->target_port =
			(uint16_t)number(name, text, 1, UINT16_MAX);
		return;
	case OPTION_SEED:
		options->seed = (uint64_t)number(name, text, 1, 1e15);
		return;
	default:
		break;
	}
	text += is_up ? 3 : is_down ? 5 : 0;
	if (!is_down)
		set_fault(&options->faults[FLOW_UP], option, name, text);
	if (!is_up)
		set_fault(&options->faults[FLOW_DOWN], option, name, text);
}

void options_read(struct options *options, int argc, char **argv)
{
	struct option longs[NNAMES + 1];
	int chosen, at;

	memset(longs, 0, sizeof(longs));
	for (int i = 0; i < NNAMES; i++) {
		longs[i].name = names[i].name;
		longs[i].has_arg = names[i].option != OPTION_HELP;
		longs[i].val = (int)names[i].option;
	}
	*options = (struct options){ .seed = 1 };
	for (int i = 0; i < FLOW_NDIRECTIONS; i++) {
		options->faults[i].rto_us = RTO_MS * US_PER_MS;
		for (int end = 0; end < FLOW_NENDS; end++)
			options->faults[i].after[end] = FLOW_NEVER;
	}
	while ((chosen = getopt_long(argc, argv, "", longs, &at)) != -1) {
		if (chosen == '?')
			exit(2);
		set_option(options, (enum word)chosen, longs[at].name,
			   optarg == NULL ? "" : optarg);
	}
	if (optind < argc || options->target_port == 0) {
		(void)fputs("fault-proxy: needs --target PORT and no more "
			    "words; see --help\n",
			    stderr);
		exit(2);
	}
	for (int i = 0; i < FLOW_NDIRECTIONS; i++) {
		struct flow_faults *faults = &options->faults[i];

		faults->round_us = options->faults[FLOW_UP].delay_us +
				   options->faults[FLOW_DOWN].delay_us;
		options->receive_bytes[i] = (int)faults->buffer;
		if (faults->buffer == 0)
			faults->buffer = BUFFER_BYTES;
	}
}
