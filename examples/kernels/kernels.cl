/* The four matrix multiplications and the maximum subarray problem of Amaris, Cordeiro, Goldman and de
 * Camargo, HiPC 2015, section V, in OpenCL. kernels.cu has the same in CUDA. */
#define TILE 16

/* Optimization 1: global memory only. Neighbours of a group work on neighbouring rows, so each reads
 * `a` and writes `c` far from the other. */
kernel void matmul_global_uncoalesced(global const float *a, global const float *b,
                                      global float *c, int n)
{
    const int row = (int)get_global_id(0), column = (int)get_global_id(1);
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = sum;
}

/* Optimization 2: neighbours work on neighbouring columns. */
kernel void matmul_global(global const float *a, global const float *b, global float *c, int n)
{
    const int column = (int)get_global_id(0), row = (int)get_global_id(1);
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = sum;
}

/* Optimization 3: tiles in shared memory, loaded by neighbours on neighbouring rows. */
kernel void matmul_shared_uncoalesced(global const float *a, global const float *b,
                                      global float *c, int n)
{
    local float left[TILE][TILE], right[TILE][TILE];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int row = (int)get_group_id(0) * TILE + x, column = (int)get_group_id(1) * TILE + y;
    float sum = 0;
    for (int m = 0; m < n; m += TILE) {
        left[x][y] = row < n && m + y < n ? a[(size_t)row * n + m + y] : 0;
        right[x][y] = column < n && m + x < n ? b[(size_t)(m + x) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += left[x][k] * right[k][y];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = sum;
}

/* Optimization 4: the same, loaded by neighbours on neighbouring columns. */
kernel void matmul_shared(global const float *a, global const float *b, global float *c, int n)
{
    local float left[TILE][TILE], right[TILE][TILE];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int column = (int)get_group_id(0) * TILE + x, row = (int)get_group_id(1) * TILE + y;
    float sum = 0;
    for (int m = 0; m < n; m += TILE) {
        left[y][x] = row < n && m + x < n ? a[(size_t)row * n + m + x] : 0;
        right[y][x] = column < n && m + y < n ? b[(size_t)(m + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = sum;
}

/* Maximum subarray: 32 groups of 128, whatever the size. Each thread has an interval of its own; 32
 * elements of each interval at a time are brought to shared memory, side by side. What is left of an
 * interval are five numbers: the best subarray, prefix and suffix (an empty one counts, as 0), the
 * sum and the number of elements. */
#define WIDTH 128
#define PIECE 32

kernel void max_subarray(global const int *x, global int *results, int n)
{
    local int pieces[WIDTH][PIECE + 1]; /* one more, so that no two threads meet in a bank */
    const int lane = (int)get_local_id(0), threads = (int)get_global_size(0);
    const int first = (int)(get_group_id(0) * WIDTH), own = first + lane;
    const int length = (n + threads - 1) / threads;
    int best = 0, prefix = 0, least = 0, sum = 0, count = 0;
    for (int from = 0; from < length; from += PIECE) {
        for (int i = lane / PIECE; i < WIDTH; i += WIDTH / PIECE) {
            const int at = from + lane % PIECE;
            const size_t index = (size_t)(first + i) * length + at;
            pieces[i][lane % PIECE] = at < length && index < (size_t)n ? x[index] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < PIECE; i++) {
            if (from + i >= length || (size_t)own * length + from + i >= (size_t)n)
                break;
            sum += pieces[lane][i];
            if (sum > prefix)
                prefix = sum;
            if (sum - least > best)
                best = sum - least;
            if (sum < least)
                least = sum;
            count++;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    results[5 * own] = best;
    results[5 * own + 1] = prefix;
    results[5 * own + 2] = sum - least;
    results[5 * own + 3] = sum;
    results[5 * own + 4] = count;
}
