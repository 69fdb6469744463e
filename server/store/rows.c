/* SPDX-License-Identifier: MIT */
#include "server/store/rows.h"

#include <stdlib.h>
#include <string.h>

void row_catalogue_release(struct row_catalogue *catalogue)
{
	if (catalogue == NULL)
		return;
	for (size_t i = 0; i < catalogue->nladders; i++)
		free(catalogue->ladders[i].map_ids);
	for (size_t i = 0; i < catalogue->nbots; i++)
		free(catalogue->bots[i].ban_reason);
	free(catalogue->bots);
	free(catalogue->versions);
	free(catalogue->tokens);
	free(catalogue->ladders);
	free(catalogue->maps);
	free(catalogue->roads);
	free(catalogue->ratings);
	for (size_t i = 0; i < catalogue->ntournaments; i++)
		row_tournament_release(&catalogue->tournaments[i]);
	free(catalogue->tournaments);
	free(catalogue->announcements);
	memset(catalogue, 0, sizeof(*catalogue));
}

void row_tournament_release(struct row_tournament *tournament)
{
	if (tournament == NULL)
		return;
	free(tournament->map_ids);
	free(tournament->entrants);
	free(tournament->matches);
	free(tournament->voids);
	memset(tournament, 0, sizeof(*tournament));
}

void row_match_list_release(struct row_match_list *list)
{
	if (list == NULL)
		return;
	free(list->matches);
	memset(list, 0, sizeof(*list));
}

void row_record_release(struct row_record *record)
{
	if (record == NULL)
		return;
	free(record->map_data);
	free(record->transcript);
	free(record->notes);
	free(record->samples);
	memset(record, 0, sizeof(*record));
}

void row_summary_release(struct row_summary *summary)
{
	if (summary == NULL)
		return;
	free(summary->standings);
	memset(summary, 0, sizeof(*summary));
}
