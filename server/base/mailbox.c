/* SPDX-License-Identifier: MIT */
#include "server/base/mailbox.h"

#include <assert.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "server/base/clock.h"

int mailbox_init(struct mailbox *box, bool with_fd)
{
	pthread_condattr_t attr;
	int fd = -1;

	if (with_fd) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd < 0)
			return -errno;
	}
	/* Without resources of its own on Linux, these cannot fail. */
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&box->lock, NULL);
	(void)pthread_cond_init(&box->filled, &attr);
	(void)pthread_condattr_destroy(&attr);
	box->first = NULL;
	box->last = &box->first;
	box->count = 0;
	box->fd = fd;
	box->is_closed = false;
	return 0;
}

void mailbox_release(struct mailbox *box)
{
	assert(box->first == NULL);
	(void)pthread_cond_destroy(&box->filled);
	(void)pthread_mutex_destroy(&box->lock);
	if (box->fd >= 0)
		(void)close(box->fd);
	box->fd = -1;
}

void mailbox_post(struct mailbox *box, struct mail *mail)
{
	const uint64_t one = 1;
	bool was_empty;

	mail->next = NULL;
	(void)pthread_mutex_lock(&box->lock);
	was_empty = box->first == NULL;
	*box->last = mail;
	box->last = &mail->next;
	box->count++;
	(void)pthread_cond_signal(&box->filled);
	/*
	 * Under the lock: a take that came between would leave the descriptor
	 * readable with no mail, or worse, the other way round.
	 */
	if (was_empty && box->fd >= 0) {
		ssize_t count = write(box->fd, &one, sizeof(one));

		assert(count == sizeof(one));
		(void)count;
	}
	(void)pthread_mutex_unlock(&box->lock);
}

/* With the lock held. */
static struct mail *take_all(struct mailbox *box)
{
	struct mail *mail = box->first;
	uint64_t posts;

	box->first = NULL;
	box->last = &box->first;
	box->count = 0;
	if (mail != NULL && box->fd >= 0) {
		ssize_t count = read(box->fd, &posts, sizeof(posts));

		(void)count;
	}
	return mail;
}

struct mail *mailbox_take(struct mailbox *box)
{
	struct mail *mail;

	(void)pthread_mutex_lock(&box->lock);
	mail = take_all(box);
	(void)pthread_mutex_unlock(&box->lock);
	return mail;
}

struct mail *mailbox_wait(struct mailbox *box, int64_t timeout_us)
{
	int64_t end_us = timeout_us < 0 ? 0 : clock_now_us() + timeout_us;
	struct timespec end = { .tv_sec = (time_t)(end_us / 1000000),
				.tv_nsec = (long)(end_us % 1000000) * 1000 };
	struct mail *mail;
	int rc = 0;

	(void)pthread_mutex_lock(&box->lock);
	while (box->first == NULL && !box->is_closed && rc == 0) {
		if (timeout_us < 0)
			rc = pthread_cond_wait(&box->filled, &box->lock);
		else
			rc = pthread_cond_timedwait(&box->filled, &box->lock,
						    &end);
	}
	mail = take_all(box);
	(void)pthread_mutex_unlock(&box->lock);
	return mail;
}

struct mail *mailbox_wait_one(struct mailbox *box)
{
	struct mail *mail;

	assert(box->fd < 0);
	(void)pthread_mutex_lock(&box->lock);
	while (box->first == NULL && !box->is_closed)
		(void)pthread_cond_wait(&box->filled, &box->lock);
	mail = box->first;
	if (mail != NULL) {
		box->first = mail->next;
		if (box->first == NULL)
			box->last = &box->first;
		box->count--;
		mail->next = NULL;
	}
	(void)pthread_mutex_unlock(&box->lock);
	return mail;
}

void mailbox_close(struct mailbox *box)
{
	(void)pthread_mutex_lock(&box->lock);
	box->is_closed = true;
	(void)pthread_cond_broadcast(&box->filled);
	(void)pthread_mutex_unlock(&box->lock);
}

bool mailbox_is_closed(struct mailbox *box)
{
	bool is_closed;

	(void)pthread_mutex_lock(&box->lock);
	is_closed = box->is_closed;
	(void)pthread_mutex_unlock(&box->lock);
	return is_closed;
}

size_t mailbox_count(struct mailbox *box)
{
	size_t count;

	(void)pthread_mutex_lock(&box->lock);
	count = box->count;
	(void)pthread_mutex_unlock(&box->lock);
	return count;
}

int mailbox_fd(const struct mailbox *box)
{
	return box->fd;
}
