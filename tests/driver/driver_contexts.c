/* Contexts: each thread has a stack of them, of which the top is current. */
#include "driver.h"

enum { DEPTH = 8 };

static _Thread_local driver_context *stack[DEPTH];
static _Thread_local int depth; /* of what lies below the current one */

static driver_context *primaries[DRIVER_MOST_DEVICES];

static driver_context *context_of(void *handle)
{
    return driver_object_of(handle, DRIVER_CONTEXT, "a context");
}

driver_context *driver_current(void)
{
    return stack[depth];
}

int driver_set_current(driver_context *context)
{
    if (context && !context_of(context))
        return DRIVER_INVALID_CONTEXT;
    stack[depth] = context;
    return DRIVER_OK;
}

int driver_context_check(driver_context **context)
{
    if (!stack[depth])
        return DRIVER_INVALID_CONTEXT;
    if (!stack[depth]->object.alive)
        driver_complain("the thread's context was destroyed");
    *context = stack[depth];
    return (*context)->error;
}

static driver_context *make(int device)
{
    driver_context *made = driver_object_new(sizeof *made, DRIVER_CONTEXT);
    made->device = device;
    made->usual = driver_stream_make(made, true);
    driver_activity_context(made);
    return made;
}

static void wait_for_streams(const driver_context *context)
{
    for (driver_stream *i = context->streams; i; i = i->next)
        driver_wait_for((driver_need){i, i->queued});
}

/* Objects of the context that a program still holds must not be used any more. */
static void destroy(driver_context *context)
{
    wait_for_streams(context);
    for (driver_stream *i = context->streams; i; i = i->next)
        i->object.alive = false;
    for (driver_object *i = driver.objects; i; i = i->next) {
        if (i->kind == DRIVER_EVENT && ((driver_event *)i)->context == context)
            i->alive = false;
        if (i->kind == DRIVER_MODULE && ((driver_module *)i)->context == context)
            i->alive = false;
    }
    context->object.alive = false;
}

int driver_context_new(driver_context **context, int device)
{
    const int result = driver_device_check(device);
    if (result)
        return result;
    *context = make(device);
    return driver_context_push(*context);
}

int driver_context_destroy(driver_context *context)
{
    if (!context_of(context))
        return DRIVER_INVALID_CONTEXT;
    if (context->primary)
        return DRIVER_INVALID_VALUE;
    destroy(context);
    if (stack[depth] == context)
        stack[depth] = NULL;
    return DRIVER_OK;
}

int driver_context_push(driver_context *context)
{
    if (!context_of(context))
        return DRIVER_INVALID_CONTEXT;
    if (depth == DEPTH - 1)
        driver_complain("contexts are pushed and not popped");
    stack[++depth] = context;
    return DRIVER_OK;
}

int driver_context_pop(driver_context **context)
{
    if (!depth)
        return DRIVER_INVALID_CONTEXT;
    if (context)
        *context = stack[depth];
    stack[depth--] = NULL;
    return DRIVER_OK;
}

int driver_primary_retain(driver_context **context, int device)
{
    const int result = driver_device_check(device);
    if (result)
        return result;
    if (!primaries[device]) {
        primaries[device] = make(device);
        primaries[device]->primary = true;
    }
    primaries[device]->retained++;
    *context = primaries[device];
    return DRIVER_OK;
}

int driver_primary_release(int device)
{
    const int result = driver_device_check(device);
    if (result)
        return result;
    if (!primaries[device])
        return DRIVER_INVALID_CONTEXT;
    if (--primaries[device]->retained)
        return DRIVER_OK;
    destroy(primaries[device]);
    primaries[device] = NULL;
    return DRIVER_OK;
}

int driver_context_wait(void)
{
    driver_context *context;
    int result = driver_context_check(&context);
    if (result)
        return result;
    const int64_t start = driver_now();
    wait_for_streams(context);
    driver_activity_wait(4, context->usual, NULL, start, context->error);
    return context->error;
}

int driver_peer_enable(driver_context *peer)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result)
        return result;
    if (!context_of(peer))
        return DRIVER_INVALID_CONTEXT;
    if (peer->device == context->device)
        return DRIVER_INVALID_DEVICE;
    if (context->peers >> peer->device & 1)
        return DRIVER_PEER_ALREADY_ENABLED;
    context->peers |= 1U << peer->device;
    return DRIVER_OK;
}
