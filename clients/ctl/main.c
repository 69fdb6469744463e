/* SPDX-License-Identifier: MIT */
/* main.c - hillctl: looks after a hill server's database. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "clients/ctl/ctl.h"
#include "clients/ctl/table.h"

int main(int argc, char **argv)
{
	struct ctl ctl = { .database = CTL_DATABASE };
	struct ctl_call call;
	int status;

	/*
	 * What is told once would be lost, or go to what is opened in its
	 * place.
	 */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
		(void)fputs("hillctl: standard output is closed\n", stderr);
		return CTL_FAILED;
	}
	/* A reader who has seen enough is no error. */
	(void)signal(SIGPIPE, SIG_DFL);
	table_setup();
	if (ctl_parse(argc, argv, &ctl, &call, &status) == 0)
		status = call.command->run(&ctl, &call);
	ctl_call_release(&call);
	/* What failed before has left nothing that could fail now. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == CTL_OK) {
		(void)fputs("hillctl: cannot write all to standard output\n",
			    stderr);
		status = CTL_FAILED;
	}
	return status;
}
