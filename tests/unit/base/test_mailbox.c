/* SPDX-License-Identifier: MIT */
#include "server/base/mailbox.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/base/pool.h"
#include "tests/unit/unit.h"

enum { POSTS = 20000, SENDERS = 4 };

struct letter {
	struct mail mail;
	unsigned sender, number;
};

struct sender {
	struct mailbox *box;
	unsigned id;
	struct letter letters[POSTS];
};

static bool is_readable(const struct mailbox *box, int wait_ms)
{
	struct pollfd poll_fd = { .fd = mailbox_fd(box), .events = POLLIN };

	return poll(&poll_fd, 1, wait_ms) == 1;
}

static void *post_all(void *arg)
{
	struct sender *sender = arg;

	for (unsigned i = 0; i < POSTS; i++) {
		sender->letters[i].sender = sender->id;
		sender->letters[i].number = i;
		mailbox_post(sender->box, &sender->letters[i].mail);
	}
	return NULL;
}

static void keeps_the_order_of_each_sender(void **state)
{
	struct mailbox box;
	struct sender *senders = calloc(SENDERS, sizeof(*senders));
	pthread_t threads[SENDERS];
	unsigned expected[SENDERS] = { 0 };
	unsigned total = 0;

	(void)state;
	assert_non_null(senders);
	assert_int_equal(mailbox_init(&box, true), 0);
	for (unsigned i = 0; i < SENDERS; i++) {
		senders[i].box = &box;
		senders[i].id = i;
		assert_int_equal(pthread_create(&threads[i], NULL, post_all,
						&senders[i]),
				 0);
	}
	while (total < SENDERS * POSTS) {
		struct mail *mail;

		assert_true(is_readable(&box, -1));
		mail = mailbox_take(&box);
		assert_non_null(mail);
		for (; mail != NULL; mail = mail->next) {
			struct letter *letter =
				MAIL_OF(mail, struct letter, mail);

			assert_int_equal(letter->number,
					 expected[letter->sender]);
			expected[letter->sender]++;
			total++;
		}
	}
	for (unsigned i = 0; i < SENDERS; i++)
		(void)pthread_join(threads[i], NULL);
	assert_null(mailbox_take(&box));
	assert_false(is_readable(&box, 0));
	mailbox_release(&box);
	free(senders);
}

static void descriptor_is_readable_while_there_is_mail(void **state)
{
	struct mailbox box;
	struct mail first, second;

	(void)state;
	assert_int_equal(mailbox_init(&box, true), 0);
	assert_false(is_readable(&box, 0));
	mailbox_post(&box, &first);
	mailbox_post(&box, &second);
	assert_true(is_readable(&box, 0));
	assert_ptr_equal(mailbox_take(&box), &first);
	assert_ptr_equal(first.next, &second);
	assert_null(second.next);
	assert_false(is_readable(&box, 0));
	assert_null(mailbox_take(&box));
	mailbox_post(&box, &first);
	assert_true(is_readable(&box, 0));
	assert_ptr_equal(mailbox_take(&box), &first);
	mailbox_release(&box);
}

static void a_closed_box_hands_out_what_is_in_it(void **state)
{
	struct mailbox box;
	struct mail mail;

	(void)state;
	assert_int_equal(mailbox_init(&box, false), 0);
	assert_int_equal(mailbox_fd(&box), -1);
	mailbox_post(&box, &mail);
	mailbox_close(&box);
	assert_ptr_equal(mailbox_wait_one(&box), &mail);
	assert_null(mailbox_wait_one(&box));
	mailbox_release(&box);
}

struct sum_job {
	struct pool_job job;
	unsigned to;
	uint64_t sum;
};

static void sum_up(struct pool_job *job)
{
	struct sum_job *sum = (struct sum_job *)(void *)job;

	for (unsigned i = 1; i <= sum->to; i++)
		sum->sum += i;
}

static void pool_finishes_every_job(void **state)
{
	enum { JOBS = 500 };
	struct sum_job *jobs = calloc(JOBS, sizeof(*jobs));
	struct mailbox done;
	struct pool *pool;
	unsigned count = 0;

	(void)state;
	assert_non_null(jobs);
	assert_int_equal(mailbox_init(&done, true), 0);
	assert_int_equal(pool_new(&pool, 3, &done), 0);
	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i].job.run = sum_up;
		jobs[i].to = i;
		pool_submit(pool, &jobs[i].job);
	}
	pool_free(pool);
	for (struct mail *mail = mailbox_take(&done); mail != NULL;
	     mail = mail->next) {
		struct sum_job *job = (struct sum_job *)(void *)mail;

		assert_int_equal(job->sum,
				 (uint64_t)job->to * (job->to + 1) / 2);
		count++;
	}
	assert_int_equal(count, JOBS);
	mailbox_release(&done);
	free(jobs);
}

struct gate_job {
	struct pool_job job;
	int in, out; /* a byte says that it runs; another lets it end */
};

static void wait_at_gate(struct pool_job *job)
{
	struct gate_job *gate = (struct gate_job *)(void *)job;
	char byte = 0;

	assert_int_equal(write(gate->out, &byte, 1), 1);
	assert_int_equal(read(gate->in, &byte, 1), 1);
}

static void cancelled_jobs_come_back_unrun(void **state)
{
	struct sum_job jobs[2] = { { .to = 10 }, { .to = 10 } };
	struct gate_job gate = { .job = { .run = wait_at_gate } };
	int running[2], open[2];
	struct mailbox done;
	struct pool *pool;
	struct mail *mail;
	char byte = 0;

	(void)state;
	pool_cancel(NULL);
	assert_int_equal(pipe(running), 0);
	assert_int_equal(pipe(open), 0);
	gate.in = open[0];
	gate.out = running[1];
	assert_int_equal(mailbox_init(&done, true), 0);
	assert_int_equal(pool_new(&pool, 1, &done), 0);
	pool_submit(pool, &gate.job);
	assert_int_equal(read(running[0], &byte, 1), 1);
	for (unsigned i = 0; i < 2; i++) {
		jobs[i].job.run = sum_up;
		pool_submit(pool, &jobs[i].job);
	}
	pool_cancel(pool);
	mail = mailbox_take(&done);
	for (unsigned i = 0; i < 2; i++) {
		assert_ptr_equal(mail, &jobs[i].job.mail);
		assert_true(jobs[i].job.is_cancelled);
		assert_int_equal(jobs[i].sum, 0);
		mail = mail->next;
	}
	assert_null(mail);
	assert_int_equal(write(open[1], &byte, 1), 1);
	pool_free(pool);
	assert_ptr_equal(mailbox_take(&done), &gate.job.mail);
	assert_false(gate.job.is_cancelled);
	mailbox_release(&done);
	for (unsigned i = 0; i < 2; i++) {
		(void)close(running[i]);
		(void)close(open[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_order_of_each_sender),
		cmocka_unit_test(descriptor_is_readable_while_there_is_mail),
		cmocka_unit_test(a_closed_box_hands_out_what_is_in_it),
		cmocka_unit_test(pool_finishes_every_job),
		cmocka_unit_test(cancelled_jobs_come_back_unrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
