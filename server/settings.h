/* SPDX-License-Identifier: MIT */
/* settings.h - what the configuration means to the parts of hilld. */
#ifndef HILL_SERVER_SETTINGS_H
#define HILL_SERVER_SETTINGS_H

struct config;
struct net_settings;
struct store_rules;
struct web_settings;

/* *RET borrows HOST, the server's name for itself; its random key is zero. */
void settings_net(const struct config *config, const char *host,
		  struct net_settings *ret);
/* What authors may make. */
void settings_rules(const struct config *config, struct store_rules *ret);
/* The bounds of *RET, and whom it believes; the rest is zero. */
void settings_web(const struct config *config, struct web_settings *ret);

#endif
