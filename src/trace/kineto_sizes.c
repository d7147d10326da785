/* Sizes of what PyTorch's operators read and write, by those of their tensors
 * (record_shapes=True). A convolution is the product that it is known as: of batch (groups), rows
 * (places of the result), columns (channels of the result) and inner (channels and places of the
 * filter); so is attention, with rows (queries), columns (keys) and inner (the widths of keys and
 * values). Their bytes are not those of such a product. */
#include "trace/kineto_event.h"

/* The product, or 0 where a factor is not above 0 or it does not fit. */
static uint64_t times(uint64_t a, int64_t b)
{
    return b > 0 && a <= UINT64_MAX / (uint64_t)b ? a * (uint64_t)b : 0;
}

static uint64_t elements_of(const hl_trace_kineto_input *input)
{
    uint64_t elements = input->sizes.count <= HL_TRACE_KINETO_RANK && input->sizes.count > 0;
    for (int i = 0; i < input->sizes.count && elements; i++)
        elements = times(elements, input->sizes.items[i]);
    return elements;
}

/* The largest power of two up to 16, the bytes that one load takes at the most, that divides the
 * distance between two rows; 0 where there is none. */
static uint64_t divisor_of(uint64_t apart)
{
    uint64_t alignment = apart ? 16 : 0;
    while (alignment > 1 && apart % alignment)
        alignment /= 2;
    return alignment;
}

/* Elements lie side by side in one direction; in the other they are as far apart as its stride. */
static uint64_t alignment_of(const hl_trace_kineto_input *input)
{
    const int rank = input->strides.count;
    if (rank < 2 || rank > HL_TRACE_KINETO_RANK || !input->element_bytes)
        return 0;
    const int64_t a = input->strides.items[rank - 1], b = input->strides.items[rank - 2];
    return divisor_of(times((uint64_t)input->element_bytes, a == 1 ? b : a));
}

/* Two matrices, or two lists of as many; sizes that do not fit together make no product. */
static haul_operands product_of(const hl_trace_kineto_input *a, const hl_trace_kineto_input *b)
{
    const haul_operands none = {0};
    const int rank = a->sizes.count, bytes = a->element_bytes;
    const int64_t *const x = a->sizes.items, *const y = b->sizes.items;
    if ((rank != 2 && rank != 3) || b->sizes.count != rank || x[rank - 1] != y[rank - 2] ||
        (rank == 3 && x[0] != y[0]))
        return none;
    haul_operands made = {.batch = rank == 3 && x[0] > 0 ? (uint64_t)x[0] : rank == 2,
                          .rows = times(1, x[rank - 2]),
                          .columns = times(1, y[rank - 1]),
                          .inner = times(1, x[rank - 1])};
    const uint64_t of_a = times(elements_of(a), bytes), of_b = times(elements_of(b), bytes);
    const uint64_t result =
        times(times(times(made.batch, x[rank - 2]), y[rank - 1]), bytes ? bytes : 1);
    if (!of_a || !of_b || !result || of_a > UINT64_MAX / 4 || of_b > UINT64_MAX / 4 ||
        result > UINT64_MAX / 4)
        return none;
    made.bytes = of_a + of_b + result;
    const uint64_t of_rows[] = {alignment_of(a), alignment_of(b),
                                divisor_of(made.columns * (uint64_t)bytes)};
    made.alignment = of_rows[0];
    for (int i = 1; i < 3; i++)
        made.alignment = of_rows[i] < made.alignment ? of_rows[i] : made.alignment;
    return made;
}

/* Bytes of a tensor; 0 where they are not known or too many. */
static uint64_t bytes_of(const hl_trace_kineto_input *input)
{
    const uint64_t bytes = times(elements_of(input), input->element_bytes);
    return bytes <= UINT64_MAX / 16 ? bytes : 0;
}

/* Places of a convolution's result along one side: floor((n + 2 padding - dilation (filter - 1) -
 * 1) / stride) + 1, as PyTorch's Conv2d says; 0 where there are none. */
static int64_t places_along(int64_t n, int64_t filter, const int64_t by[3])
{
    enum { MOST = 1 << 20 };
    const int64_t padding = by[0], stride = by[1], dilation = by[2];
    for (int i = 0; i < 3; i++)
        if (by[i] < (i > 0) || by[i] > MOST)
            return 0;
    if (n < 1 || n > INT64_MAX / 4 || filter < 1 || filter > MOST)
        return 0;
    const int64_t left = n + 2 * padding - dilation * (filter - 1) - 1;
    return left < 0 ? 0 : left / stride + 1;
}

/* A convolution of `data` with `filter` whose result has as many places in all, and as many bytes.
 * Sizes: batch x channels x places, channels of the result x channels of a group x places. */
static haul_operands convolution_of(const hl_trace_kineto_input *data,
                                    const hl_trace_kineto_input *filter, uint64_t places,
                                    uint64_t result)
{
    const int64_t *const x = data->sizes.items, *const w = filter->sizes.items;
    const int rank = data->sizes.count;
    if (rank < 3 || rank > HL_TRACE_KINETO_RANK || filter->sizes.count != rank || w[1] < 1 ||
        x[1] < 1 || x[1] % w[1] || w[0] < 1 || w[0] % (x[1] / w[1]))
        return (haul_operands){0};
    const int64_t groups = x[1] / w[1];
    haul_operands made = {.batch = (uint64_t)groups,
                          .rows = times(places, x[0]),
                          .columns = (uint64_t)(w[0] / groups),
                          .inner = (uint64_t)w[1]};
    for (int i = 2; i < rank; i++)
        made.inner = times(made.inner, w[i]);
    const uint64_t of_data = bytes_of(data), of_filter = bytes_of(filter);
    if (!made.rows || !made.inner || !of_data || !of_filter || !result || result > UINT64_MAX / 16)
        return (haul_operands){0};
    made.bytes = of_data + of_filter + result;
    return made;
}

/* Sides with one value for all of them have it once. */
static int64_t value_at(const hl_trace_kineto_list *list, int side)
{
    return list->count ? list->items[side < list->count ? side : list->count - 1] : -1;
}

static haul_operands convolved(const hl_trace_kineto_event *self)
{
    const hl_trace_kineto_operator *const is = self->is_operator;
    const hl_trace_kineto_input *const data = &self->inputs[0], *const filter = &self->inputs[1];
    uint64_t places = 1;
    for (int i = 2; i < data->sizes.count && i < HL_TRACE_KINETO_RANK; i++) {
        int64_t by[3];
        for (int v = 0; v < 3; v++)
            by[v] = value_at(&self->values[is->at[v]], i - 2);
        places = times(places, places_along(data->sizes.items[i], filter->sizes.items[i], by));
    }
    const uint64_t result = times(
        times(times(places, data->sizes.items[0]), filter->sizes.items[0]), data->element_bytes);
    return convolution_of(data, filter, places, result);
}

/* Of a convolution's gradients, of its data and its filter, each takes as much as the convolution.
 * A transposed one's sizes mean others. */
static haul_operands gradients(const hl_trace_kineto_event *self)
{
    const hl_trace_kineto_input *const result = &self->inputs[0], *const data = &self->inputs[1],
                                       *const filter = &self->inputs[2];
    const int rank = result->sizes.count;
    const int64_t *const y = result->sizes.items;
    uint64_t places = 1;
    for (int i = 2; i < rank && i < HL_TRACE_KINETO_RANK; i++)
        places = times(places, y[i]);
    if (value_at(&self->values[self->is_operator->at[0]], 0) == 1 || rank != data->sizes.count ||
        y[0] != data->sizes.items[0] || y[1] != filter->sizes.items[0])
        return (haul_operands){0};
    return convolution_of(data, filter, places, bytes_of(result));
}

/* Two products for each query, key and head, and five for the gradients, of which one is computed
 * again (FlashAttention, Dao and others, arXiv 2205.14135, section 3). Where each token sees those
 * before it alone, half of them. Heads of the query may share keys and values. */
static haul_operands attention(const hl_trace_kineto_event *self)
{
    const hl_trace_kineto_operator *const is = self->is_operator;
    const hl_trace_kineto_input *const query = &self->inputs[is->first];
    const bool by_heads = is->form == HL_TRACE_KINETO_BY_HEADS;
    const int token = by_heads ? 2 : 1, head = by_heads ? 1 : 2, rank = 4;
    const int64_t *const q = query->sizes.items, *const k = query[1].sizes.items,
                         *const v = query[2].sizes.items;
    for (int i = 0; i < 3; i++)
        if (query[i].sizes.count != rank || query[i].sizes.items[0] != q[0])
            return (haul_operands){0};
    const uint64_t of_tokens = times(times(times(1, q[0]), q[token]), q[head]);
    const uint64_t read = bytes_of(query), of_keys = bytes_of(&query[1]),
                   of_values = bytes_of(&query[2]);
    const uint64_t written = times(times(of_tokens, v[3]), query->element_bytes);
    if (k[3] != q[3] || v[token] != k[token] || v[3] < 1 || v[3] > INT32_MAX || q[3] > INT32_MAX ||
        !read || !of_keys || !of_values || !written || written > UINT64_MAX / 16)
        return (haul_operands){0};
    const bool is_half = value_at(&self->values[is->at[0]], 0) > 0 && q[token] == k[token];
    return (haul_operands){
        .batch = times((uint64_t)q[0], q[head]),
        .rows = (uint64_t)q[token],
        .columns = ((uint64_t)k[token] + is_half) / (is_half ? 2 : 1),
        .inner = (uint64_t)(q[3] + v[3]) * (is->passes == 2 ? 5 : 2) / 2,
        .bytes = (read + of_keys + of_values + written) * (uint64_t)is->passes,
    };
}

haul_operands hl_trace_kineto_operands(const hl_trace_kineto_event *self)
{
    const hl_trace_kineto_operator *const is = self->is_operator;
    const hl_trace_kineto_input *const first = &self->inputs[is->first];
    switch (is->form) {
    case HL_TRACE_KINETO_PRODUCT:
        return product_of(first, first + 1);
    case HL_TRACE_KINETO_CONVOLVED:
        return convolved(self);
    case HL_TRACE_KINETO_GRADIENTS:
        return gradients(self);
    case HL_TRACE_KINETO_BY_TOKENS:
    case HL_TRACE_KINETO_BY_HEADS:
        return attention(self);
    case HL_TRACE_KINETO_TENSORS:
        break;
    }
    return (haul_operands){.bytes =
                               times(times(elements_of(first), first->element_bytes), is->passes)};
}
