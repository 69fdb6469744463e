/* SPDX-License-Identifier: MIT */
/*
 * mailbox.h - the only thing that threads share: a queue of messages.
 *
 *	struct order {
 *		struct mail mail;
 *		...
 *	};
 *	mailbox_post(box, &order->mail);          one thread
 *	mail = mailbox_wait_one(box);             another, that may sleep
 *	mail = mailbox_take(box);                 or the loop, when mailbox_fd()
 *	                                          is readable: all of them
 *	for (; mail != NULL; mail = next) {
 *		next = mail->next;
 *		order = MAIL_OF(mail, struct order, mail);
 *
 * A message belongs to the sender until it is posted, to the receiver from the
 * moment that it is taken; in between nobody touches it. The box never
 * allocates. Messages come out in the order in which they were posted. Any
 * thread, unless said otherwise.
 */
#ifndef HILL_BASE_MAILBOX_H
#define HILL_BASE_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/alloc.h"

/* First or not, a member of every message; the receiver finds it by MAIL_OF. */
struct mail {
	struct mail *next; /* the box's while posted, then the receiver's */
};

#define MAIL_OF(mail_, type, member) \
	((type *)(void *)((char *)(mail_)-offsetof(type, member)))

struct mailbox {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct mail *first; /* borrowed until taken */
	struct mail **last;
	int fd; /* eventfd, owned; -1 for none */
	bool is_closed;
};

/*
 * Make an empty box. WITH_FD: mailbox_fd() becomes readable when there is
 * mail. 0, or -errno of eventfd. One thread, before anybody else knows BOX.
 */
int mailbox_init(struct mailbox *box, bool with_fd) WARN_UNUSED;
/*
 * Give back what the box owns; mail that is still in it is the caller's to
 * take before. When no other thread uses BOX any more.
 */
void mailbox_release(struct mailbox *box);
/* Hand MAIL over. Never blocks for longer than another post or take. */
void mailbox_post(struct mailbox *box, struct mail *mail);
/*
 * All mail, oldest first, linked by `next`; NULL when there is none. Never
 * sleeps; the descriptor is not readable afterwards until the next post.
 */
struct mail *mailbox_take(struct mailbox *box) WARN_UNUSED;
/*
 * The oldest message only, for several receivers; sleeps until there is one.
 * NULL: the box is closed and empty. Not for a box with a descriptor.
 */
struct mail *mailbox_wait_one(struct mailbox *box) WARN_UNUSED;
/*
 * Nobody sleeps in BOX from now on; mail can still be posted and taken. Taking
 * comes first: a closed box hands out what is in it.
 */
void mailbox_close(struct mailbox *box);
/* The descriptor to poll for reading; stays the box's. -1 for none. */
int mailbox_fd(const struct mailbox *box);

#endif
