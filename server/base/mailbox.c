/* SPDX-License-Identifier: MIT */
#include "server/base/mailbox.h"

#include <assert.h>
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mailbox_init(struct mailbox *box, bool with_fd)
{
	int fd = -1;

	if (with_fd) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd < 0)
			return -errno;
	}
	/* Without resources of its own on Linux, these cannot fail. */
	(void)pthread_mutex_init(&box->lock, NULL);
	(void)pthread_cond_init(&box->filled, NULL);
	box->first = NULL;
	box->last = &box->first;
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

struct mail *mailbox_take(struct mailbox *box)
{
	struct mail *mail;
	uint64_t posts;

	(void)pthread_mutex_lock(&box->lock);
	mail = box->first;
	box->first = NULL;
	box->last = &box->first;
	if (mail != NULL && box->fd >= 0) {
		ssize_t count = read(box->fd, &posts, sizeof(posts));

		(void)count;
	}
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

int mailbox_fd(const struct mailbox *box)
{
	return box->fd;
}
