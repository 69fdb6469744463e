/* SPDX-License-Identifier: MIT */
#include "server/settings.h"

#include "server/config.h"
#include "server/net/net.h"
#include "server/store/register.h"
#include "server/web/web.h"

enum { MIB = 1024 * 1024 };

void settings_net(const struct config *config, const char *host,
		  struct net_settings *ret)
{
	*ret = (struct net_settings){
		.lobby = {
			.host = host,
			.login_ms = (uint32_t)config->login_seconds * 1000,
			.peers_max = (uint32_t)config->connections_max,
			.peers_per_address =
				(uint32_t)config->connections_per_address,
			.prelogin_per_address =
				(uint32_t)config->logins_pending_per_address,
			.failures_per_address =
				(uint32_t)config->login_failures_max,
			.failure_forget_ms =
				(uint32_t)config->login_failure_seconds * 1000,
			.is_registration_closed =
				config->registration ==
				STORE_REGISTRATION_CLOSED,
			.registrations_per_hour =
				(uint32_t)config->registrations_per_hour,
			.has_guests = config->guests == 1,
			.guests_max = (uint32_t)config->guests_max,
			.guests_per_address =
				(uint32_t)config->guests_per_address,
			.retry_after_s = (uint32_t)config->retry_after_seconds,
			.matches_max = (uint32_t)config->matches_max,
			.results_max = (uint32_t)config->results_max,
			.match_budget_bytes =
				(uint64_t)config->match_memory_mb * MIB,
			.map_budget_bytes =
				(uint64_t)config->map_memory_mb * MIB,
			.stall_void_ms =
				(uint32_t)config->stall_void_seconds * 1000,
		},
		.drain_ms = (uint32_t)config->drain_seconds * 1000,
		.output_stall_ms =
			(uint32_t)config->output_stall_seconds * 1000,
		.dead_peer_ms = (uint32_t)config->dead_peer_seconds * 1000,
		.workers = (unsigned)config->workers,
	};
}

void settings_rules(const struct config *config, struct store_rules *ret)
{
	*ret = (struct store_rules){
		.registration = (enum store_registration)config->registration,
		.bots_max = (uint32_t)config->bots_max,
		.bots_per_owner = (uint32_t)config->bots_per_owner,
		.versions_per_day = (uint32_t)config->versions_per_day,
		.versions_per_bot = (uint32_t)config->versions_per_bot,
	};
}

void settings_web(const struct config *config, struct web_settings *ret)
{
	*ret = (struct web_settings){
		.connections_max = (unsigned)config->http_connections_max,
		.connections_per_address =
			(unsigned)config->http_connections_per_address,
		.request_ms = (uint32_t)config->http_request_seconds * 1000,
		.stall_ms = (uint32_t)config->http_stall_seconds * 1000,
	};
	/* The config takes no text that is not such a list. */
	(void)address_list_parse(config->http_trusted_proxy, &ret->proxies);
}
