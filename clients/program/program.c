/* SPDX-License-Identifier: MIT */
#include "clients/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "clients/program/system.h"

#include "server/base/clock.h"

enum {
	READ_BYTES = 16384,
	PIPE_BYTES_MOST = 1024 * 1024, /* as far as a pipe may be widened */
	/*
	 * An interpreter's last steps, and a look at ps in the portable
	 * keeper, take this long on a machine that is busy: the exit status
	 * would come too late to be told.
	 */
	CLOSED_GRACE_US = 500 * 1000,
	READS_A_TURN = 4, /* so that a flood does not keep the other slots */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void program_keep_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

void program_catch_signals(void (*handler)(int number))
{
	struct sigaction action = { .sa_handler = handler };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &blocked, NULL);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}

void program_init(struct program *program)
{
	*program = (struct program){
		.in_fd = -1, .out_fd = -1, .err_fd = -1, .log_fd = -1
	};
}

/* Pipe for FDS; the end at OURS does not block. */
static int open_pipe(int fds[2], int ours)
{
	int rc = system_pipe(fds);

	if (rc < 0)
		return rc;
	if (fcntl(fds[ours], F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int program_start(struct program *program, const struct program_plan *plan)
{
	int in[2] = { -1, -1 };
	int out[2] = { -1, -1 };
	int err[2] = { -1, -1 };
	struct keeper_plan keeper_plan = {
		.argv = plan->argv,
		.folder = plan->folder,
		.chdir = plan->is_chdir ? plan->folder : NULL,
	};
	int rc = open_pipe(in, 1);

	if (rc == 0)
		rc = open_pipe(out, 0);
	if (rc == 0 && !plan->is_stderr_shared)
		rc = open_pipe(err, 0);
	if (rc == 0) {
		keeper_plan.stdin_fd = in[0];
		keeper_plan.stdout_fd = out[1];
		keeper_plan.stderr_fd =
			plan->is_stderr_shared ? STDERR_FILENO : err[1];
		rc = keeper_start(&program->keeper, &keeper_plan);
	}
	close_fd(&in[0]);
	close_fd(&out[1]);
	close_fd(&err[1]);
	if (rc < 0) {
		close_fd(&in[1]);
		close_fd(&out[0]);
		close_fd(&err[0]);
		return rc;
	}
	program->phase = PROGRAM_RUNNING;
	program->in_fd = in[1];
	program->out_fd = out[0];
	program->err_fd = err[0];
	program->log_path = plan->log_path;
	program->line_max = plan->line_max;
	program->is_whole = plan->is_whole;
	program->whole = (struct program_whole){ 0 };
	program->on_line = plan->on_line;
	program->context = plan->context;
	/* A whole input is as large as a map may be. */
	buf_init(&program->input, SIZE_MAX / 8);
	buf_init(&program->line, plan->line_max + 1);
	return 0;
}

void program_release(struct program *program)
{
	close_fd(&program->in_fd);
	close_fd(&program->out_fd);
	close_fd(&program->err_fd);
	close_fd(&program->log_fd);
	buf_release(&program->input);
	buf_release(&program->line);
	keeper_release(&program->keeper);
	program_init(program);
}

/* Write what the pipe takes; a program that closed its stdin is left alone. */
static void flush_input(struct program *program)
{
	size_t done = 0;

	while (program->in_fd >= 0 && done < program->input.len) {
		ssize_t count =
			write(program->in_fd, program->input.data + done,
			      program->input.len - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			break;
		if (count < 0) {
			close_fd(&program->in_fd);
			done = program->input.len;
			break;
		}
		done += (size_t)count;
	}
	buf_drop_front(&program->input, done);
	if (program->input.len == 0 && program->is_input_ending)
		close_fd(&program->in_fd);
}

void program_write(struct program *program, const char *bytes, size_t len)
{
	if (program->in_fd < 0 || program->is_input_ending)
		return;
	/* Straight to the pipe, the usual case, saves the copy. */
	if (program->input.len == 0) {
		ssize_t count = write(program->in_fd, bytes, len);

		if (count < 0 && errno != EAGAIN && errno != EINTR) {
			close_fd(&program->in_fd);
			return;
		}
		if (count > 0) {
			bytes += count;
			len -= (size_t)count;
		}
	}
	buf_add(&program->input, bytes, len);
}

void program_end_input(struct program *program)
{
	if (program->phase == PROGRAM_NONE)
		return;
	program->is_input_ending = true;
	flush_input(program);
}

void program_signal(struct program *program, enum keeper_command command)
{
	if (program->phase != PROGRAM_NONE)
		keeper_tell(&program->keeper, command);
}

static void hand_out(struct program *program)
{
	program->on_line(program->context, buf_text(&program->line),
			 program->line.len);
	buf_clear(&program->line);
}

/* Cut the bytes of its output into lines. */
static void take_output(struct program *program, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *lf = memchr(bytes, '\n', len);
		size_t part = lf != NULL ? (size_t)(lf - bytes) : len;
		size_t room = program->line_max + 1 - program->line.len;

		if (!program->is_discarding) {
			buf_add(&program->line, bytes,
				part < room ? part : room);
			program->is_discarding = part > room;
		}
		if (lf == NULL)
			return;
		program->is_discarding = false;
		hand_out(program);
		bytes = lf + 1;
		len -= part + 1;
	}
}

bool program_is_command(char c)
{
	return c != '\0' && strchr("LRUDWAS", c) != NULL;
}

bool program_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void program_count_whole(struct program_whole *whole, const char *bytes,
			 size_t len)
{
	whole->bytes += len;
	for (size_t i = 0; i < len; i++) {
		if (program_is_command(bytes[i]) ||
		    program_is_blank(bytes[i])) {
			whole->kept += program_is_command(bytes[i]);
			whole->is_first_over = whole->nfirst > 0;
			continue;
		}
		whole->dropped++;
		if (!whole->is_first_over &&
		    whole->nfirst < sizeof(whole->first))
			whole->first[whole->nfirst++] = bytes[i];
	}
}

/*
 * All of its output is one reply: line ends are no ends. What is no command
 * takes no room of it, however much of that there is.
 */
static void take_whole(struct program *program, const char *bytes, size_t len)
{
	program_count_whole(&program->whole, bytes, len);
	for (size_t i = 0; i < len && program->line.len <= program->line_max;
	     i++) {
		if (program_is_command(bytes[i]))
			buf_add_char(&program->line, bytes[i]);
	}
}

bool program_has_whole_reply(const struct program *program, size_t len)
{
	const struct keeper_status *status = &program->status;
	bool has_failed = program->has_status &&
			  (status->end != KEEPER_EXITED || status->value != 0);

	if (program->has_status && status->end == KEEPER_SIGNALLED &&
	    status->value == SIGKILL)
		return false;
	return len > 0 || !has_failed;
}

static void read_output(struct program *program)
{
	char bytes[READ_BYTES];

	for (int i = 0;
	     i < READS_A_TURN && program->out_fd >= 0 && !program->is_paused;
	     i++) {
		ssize_t count = read(program->out_fd, bytes, sizeof(bytes));

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count <= 0) {
			close_fd(&program->out_fd);
			return;
		}
		program->has_written = true;
		program->read_us = clock_now_us();
		if (program->is_whole)
			take_whole(program, bytes, (size_t)count);
		else
			take_output(program, bytes, (size_t)count);
	}
}

/* Remember the last of standard error, log or not. */
static void keep_tail(struct program *program, const char *bytes, size_t len)
{
	size_t over;

	if (len > PROGRAM_TAIL_BYTES) {
		bytes += len - PROGRAM_TAIL_BYTES;
		len = PROGRAM_TAIL_BYTES;
	}
	if (program->tail_len + len > PROGRAM_TAIL_BYTES) {
		over = program->tail_len + len - PROGRAM_TAIL_BYTES;
		program->tail_len -= over;
		memmove(program->tail, program->tail + over, program->tail_len);
	}
	memcpy(program->tail + program->tail_len, bytes, len);
	program->tail_len += len;
}

static void read_errors(struct program *program)
{
	char bytes[READ_BYTES];

	for (int i = 0; i < READS_A_TURN && program->err_fd >= 0; i++) {
		ssize_t count = read(program->err_fd, bytes, sizeof(bytes));
		size_t room = PROGRAM_LOG_BYTES - program->logged;

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count <= 0) {
			close_fd(&program->err_fd);
			return;
		}
		keep_tail(program, bytes, (size_t)count);
		if (program->log_path == NULL || room == 0)
			continue;
		if (program->log_fd < 0)
			program->log_fd = open(
				program->log_path,
				O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (program->log_fd < 0) {
			program->log_path = NULL;
			continue;
		}
		room = (size_t)count < room ? (size_t)count : room;
		/* A log that cannot be written costs the log, not the match. */
		(void)!write(program->log_fd, bytes, room);
		program->logged += room;
	}
}

static void read_status(struct program *program)
{
	struct keeper_status status;
	int rc = keeper_hear(&program->keeper, &status);

	if (rc < 0) {
		program_release(program);
	} else if (rc > 0) {
		program->has_status = true;
		program->status = status;
		if (program->phase == PROGRAM_RUNNING)
			program->phase = PROGRAM_ENDED;
	}
}

size_t program_poll(const struct program *program, struct pollfd *fds)
{
	size_t count = 0;

	if (program->phase == PROGRAM_NONE)
		return 0;
	fds[count++] = (struct pollfd){ .fd = program->keeper.status_fd,
					.events = POLLIN };
	if (program->in_fd >= 0 && program->input.len > 0)
		fds[count++] = (struct pollfd){ .fd = program->in_fd,
						.events = POLLOUT };
	if (program->out_fd >= 0 && !program->is_paused)
		fds[count++] = (struct pollfd){ .fd = program->out_fd,
						.events = POLLIN };
	if (program->err_fd >= 0)
		fds[count++] = (struct pollfd){ .fd = program->err_fd,
						.events = POLLIN };
	return count;
}

/*
 * After the end: hand out what the pipe still holds. Something that the
 * program started may have the pipe open too; that one is not waited for.
 */
static void drain(struct program *program)
{
	struct pollfd out = { .events = POLLIN };
	int left = PIPE_BYTES_MOST / (READS_A_TURN * READ_BYTES);

	/* No more than a pipe holds: the other one may print for ever. */
	do {
		read_output(program);
		out.fd = program->out_fd;
	} while (--left > 0 && program->out_fd >= 0 && !program->is_paused &&
		 poll(&out, 1, 0) > 0);
	if (program->is_paused && program->out_fd >= 0)
		return;
	/* Its last words are in the pipe by now. */
	read_errors(program);
	program_end_output(program);
	program->phase = PROGRAM_DRAINED;
}

void program_end_output(struct program *program)
{
	close_fd(&program->out_fd);
	if (program->is_output_ended)
		return;
	program->is_output_ended = true;
	if (program->line.len > 0 || program->is_whole)
		hand_out(program);
}

bool program_has_given_up(struct program *program, int64_t now_us)
{
	if (program->phase != PROGRAM_RUNNING || program->out_fd >= 0 ||
	    (program->is_whole && program->line.len == 0))
		return false;
	if (program->closed_us == 0)
		program->closed_us = now_us;
	if (now_us - program->closed_us < CLOSED_GRACE_US)
		return false;
	program_end_output(program);
	return true;
}

int64_t program_closed_deadline(const struct program *program)
{
	return program->closed_us == 0 ? INT64_MAX
				       : program->closed_us + CLOSED_GRACE_US;
}

void program_handle(struct program *program, const struct pollfd *fds,
		    size_t count)
{
	bool has_news = false;

	for (size_t i = 0; i < count; i++) {
		if (fds[i].revents == 0)
			continue;
		if (fds[i].fd == program->keeper.status_fd)
			has_news = true;
		else if (fds[i].fd == program->in_fd)
			flush_input(program);
		else if (fds[i].fd == program->out_fd)
			read_output(program);
		else if (fds[i].fd == program->err_fd)
			read_errors(program);
	}
	if (has_news)
		read_status(program);
	if (program->phase == PROGRAM_ENDED)
		drain(program);
}
