/* The four matrix multiplications and the maximum subarray problem of Amaris, Cordeiro, Goldman and de
 * Camargo, HiPC 2015, section V, in CUDA. kernels.cl has the same in OpenCL. */
enum { TILE = 16, WIDTH = 128, PIECE = 32 };

/* Optimization 1: global memory only. Neighbours of a warp work on neighbouring rows, so each reads
 * `a` and writes `c` far from the other. */
__global__ void matmul_global_uncoalesced(const float *a, const float *b, float *c, int n)
{
    const int row = blockIdx.x * TILE + threadIdx.x, column = blockIdx.y * TILE + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = sum;
}

/* Optimization 2: neighbours work on neighbouring columns. */
__global__ void matmul_global(const float *a, const float *b, float *c, int n)
{
    const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = sum;
}

/* Optimization 3: tiles in shared memory, loaded by neighbours on neighbouring rows. */
__global__ void matmul_shared_uncoalesced(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.x * TILE + x, column = blockIdx.y * TILE + y;
    float sum = 0;
    for (int m = 0; m < n; m += TILE) {
        left[x][y] = row < n && m + y < n ? a[(size_t)row * n + m + y] : 0;
        right[x][y] = column < n && m + x < n ? b[(size_t)(m + x) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[x][k] * right[k][y];
        __syncthreads();
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = sum;
}

/* Optimization 4: the same, loaded by neighbours on neighbouring columns. */
__global__ void matmul_shared(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int m = 0; m < n; m += TILE) {
        left[y][x] = row < n && m + x < n ? a[(size_t)row * n + m + x] : 0;
        right[y][x] = column < n && m + y < n ? b[(size_t)(m + y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = sum;
}

/* Maximum subarray: 32 blocks of 128, whatever the size. Each thread has an interval of its own; 32
 * elements of each interval at a time are brought to shared memory, side by side. What is left of an
 * interval are five numbers: the best subarray, prefix and suffix (an empty one counts, as 0), the
 * sum and the number of elements. */
__global__ void max_subarray(const int *x, int *results, int n)
{
    __shared__ int pieces[WIDTH][PIECE + 1]; /* one more, so that no two threads meet in a bank */
    const int lane = threadIdx.x, threads = gridDim.x * blockDim.x;
    const int first = blockIdx.x * WIDTH, own = first + lane;
    const int length = (n + threads - 1) / threads;
    int best = 0, prefix = 0, least = 0, sum = 0, count = 0;
    for (int from = 0; from < length; from += PIECE) {
        for (int i = lane / PIECE; i < WIDTH; i += WIDTH / PIECE) {
            const int at = from + lane % PIECE;
            const size_t index = (size_t)(first + i) * length + at;
            pieces[i][lane % PIECE] = at < length && index < (size_t)n ? x[index] : 0;
        }
        __syncthreads();
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
        __syncthreads();
    }
    results[5 * own] = best;
    results[5 * own + 1] = prefix;
    results[5 * own + 2] = sum - least;
    results[5 * own + 3] = sum;
    results[5 * own + 4] = count;
}
