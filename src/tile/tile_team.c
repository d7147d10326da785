/* The threads of a team and their jobs. */
#include "tile/tile_team.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"

typedef struct member {
    hl_tile_team *team;
    int rank;
    haul_context *context;
    pthread_t thread; /* the first has none */
    bool has_thread;
    unsigned done; /* jobs */
} member;

struct hl_tile_team {
    int count;
    member *members;
    hl_tile_wire *wire;
    pthread_mutex_t lock;
    pthread_cond_t given, ended;
    hl_tile_job job;
    void *state;
    unsigned jobs; /* given so far */
    bool is_closing;
};

/* A failure ends what the others wait for. */
static void work(const member *self)
{
    const haul_processes *processes = hl_tile_wire_end(self->team->wire, self->rank);
    haul_error error = {.status = HAUL_OK};
    error.status = self->team->job(self->context, self->rank, self->team->state, &error);
    if (error.status)
        processes->tell(processes->of, &error);
}

static void *serve(void *state)
{
    member *self = state;
    hl_tile_team *team = self->team;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (self->done == team->jobs && !team->is_closing)
            pthread_cond_wait(&team->given, &team->lock);
        if (self->done == team->jobs)
            break;
        pthread_mutex_unlock(&team->lock);
        work(self);
        pthread_mutex_lock(&team->lock);
        self->done++;
        pthread_cond_signal(&team->ended);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

haul_status hl_tile_team_new(int count, hl_tile_team **team, haul_error *error)
{
    hl_tile_team *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->given, NULL);
    pthread_cond_init(&self->ended, NULL);
    self->count = count;
    self->members = calloc((size_t)count, sizeof *self->members);
    haul_status status =
        self->members ? hl_tile_wire_new(count, &self->wire, error) : hl_base_fail_no_memory(error);
    for (int i = 0; self->members && i < count && !status; i++) {
        member *one = &self->members[i];
        *one = (member){.team = self, .rank = i};
        one->has_thread = i && !pthread_create(&one->thread, NULL, serve, one);
        if (i && !one->has_thread)
            status = haul_error_set(error, HAUL_STATUS_NO_MEMORY, "no thread for device %d", i);
    }
    if (status)
        hl_tile_team_free(self);
    else
        *team = self;
    return status;
}

void hl_tile_team_free(hl_tile_team *team)
{
    if (!team)
        return;
    pthread_mutex_lock(&team->lock);
    team->is_closing = true;
    pthread_cond_broadcast(&team->given);
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; team->members && i < team->count; i++)
        if (team->members[i].has_thread)
            pthread_join(team->members[i].thread, NULL);
    hl_tile_wire_free(team->wire);
    pthread_cond_destroy(&team->given);
    pthread_cond_destroy(&team->ended);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team);
}

int hl_tile_team_count(const hl_tile_team *team)
{
    return team->count;
}

const haul_processes *hl_tile_team_processes(hl_tile_team *team, int rank)
{
    return hl_tile_wire_end(team->wire, rank);
}

void hl_tile_team_set(hl_tile_team *team, int rank, haul_context *context, haul_device *device,
                      bool has_data)
{
    team->members[rank].context = context;
    hl_tile_wire_set_device(team->wire, rank, device, has_data);
}

haul_context *hl_tile_team_context(const hl_tile_team *team, int rank)
{
    return team->members[rank].context;
}

haul_status hl_tile_team_call(hl_tile_team *team, hl_tile_job job, void *state, haul_error *error)
{
    pthread_mutex_lock(&team->lock);
    team->job = job;
    team->state = state;
    team->jobs++;
    pthread_cond_broadcast(&team->given);
    pthread_mutex_unlock(&team->lock);
    work(&team->members[0]);
    pthread_mutex_lock(&team->lock);
    for (int i = 1; i < team->count; i++)
        while (team->members[i].done != team->jobs)
            pthread_cond_wait(&team->ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
    hl_tile_wire_join_clocks(team->wire);
    return hl_tile_wire_clear(team->wire, error);
}

void hl_tile_team_join_clocks(hl_tile_team *team)
{
    hl_tile_wire_join_clocks(team->wire);
}
