! A Fortran program that knows nothing of haul and hands a GPU's memory to nonblocking and persistent
! calls, by mpi_f08 and by `use mpi`: several are under way at once, with messages between, and end
! by each of MPI's functions. Each gives what the blocking call gives on the host.
module device_calls
  use cuda_memory
  use iso_c_binding
  implicit none
  integer, parameter :: block = 30, calls = 3
  type memory
    type(c_ptr) :: at
    integer, pointer, contiguous :: on_device(:)
    integer, allocatable :: host(:)
  end type
  type(memory) :: from(calls), to(calls)
  integer :: failures = 0
contains
  subroutine fill(one, n, seed)
    type(memory), intent(inout) :: one
    integer, intent(in) :: n, seed
    integer :: i
    if (.not. allocated(one%host)) then
      one%at = cuda_memory_new(int(4 * n, c_size_t))
      call c_f_pointer(one%at, one%on_device, [n])
      allocate(one%host(n))
    end if
    one%host = [(i * 7 + seed * 1001, i = 1, n)]
    call cuda_memory_write(one%at, one%host, int(4 * n, c_size_t))
  end subroutine
  subroutine begin(rank, n, round)
    integer, intent(in) :: rank, n, round
    integer :: k
    do k = 1, calls
      call fill(from(k), n * block, rank + 10 * k + round)
      call fill(to(k), n * block, -rank - 10 * k)
    end do
  end subroutine
  subroutine check(what, round)
    character(*), intent(in) :: what
    integer, intent(in) :: round
    integer, allocatable :: got(:)
    integer :: k
    allocate(got(size(to(1)%host)))
    do k = 1, calls
      call cuda_memory_read(got, to(k)%at, int(4 * size(got), c_size_t))
      if (any(got /= to(k)%host)) then
        failures = failures + 1
        print '(2a,2(a,i0))', what, ' differs', ': call ', k, ' round ', round
      end if
    end do
  end subroutine
end module

subroutine with_f08(rank, n)
  use mpi_f08
  use device_calls
  implicit none
  integer, intent(in) :: rank, n
  type(MPI_Request) :: requests(calls + 2)
  type(MPI_Status) :: statuses(calls + 2)
  integer :: round, k, index, done, indices(calls + 2), counts(n), places(n), sent, got
  logical :: flag
  counts = block - 1
  places = [((k - 1) * block, k = 1, n)]
  do round = 1, 6
    call begin(rank, n, round)
    call MPI_Alltoallv(from(1)%host, counts, places, MPI_INTEGER, to(1)%host, counts, places, &
                       MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, to(2)%host, block, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Bcast(to(3)%host, block, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
    call MPI_Ialltoallv(from(1)%on_device, counts, places, MPI_INTEGER, to(1)%on_device, counts, &
                        places, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, to(2)%on_device, block, MPI_INTEGER, &
                        MPI_COMM_WORLD, requests(2))
    call MPI_Ibcast(to(3)%on_device, block, MPI_INTEGER, n - 1, MPI_COMM_WORLD, requests(3))
    sent = rank
    call MPI_Isend(sent, 1, MPI_INTEGER, mod(rank + 1, n), round, MPI_COMM_WORLD, requests(4))
    call MPI_Irecv(got, 1, MPI_INTEGER, mod(rank + n - 1, n), round, MPI_COMM_WORLD, requests(5))
    select case (round)
    case (1)
      call MPI_Waitall(calls + 2, requests, MPI_STATUSES_IGNORE)
    case (2)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(calls + 2, requests, flag, statuses)
      end do
    case (3)
      do k = 1, calls + 2
        call MPI_Waitany(calls + 2, requests, index, MPI_STATUS_IGNORE)
      end do
    case (4)
      k = 0
      do while (k < calls + 2)
        call MPI_Waitsome(calls + 2, requests, done, indices, MPI_STATUSES_IGNORE)
        k = k + done
      end do
    case (5)
      k = 0
      do while (k < calls + 2)
        call MPI_Testany(calls + 2, requests, index, flag, statuses(1))
        if (flag) k = k + 1
      end do
    case default
      do k = calls + 2, 1, -1
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(k), flag, MPI_STATUS_IGNORE)
        end do
      end do
    end select
    if (any(requests /= MPI_REQUEST_NULL) .or. got /= mod(rank + n - 1, n)) failures = failures + 1
    call check('f08', round)
  end do
end subroutine

subroutine with_mpi(rank, n)
  use mpi
  use device_calls
  implicit none
  integer, intent(in) :: rank, n
  integer :: round, code, k, done, requests(calls), indices(calls), status(MPI_STATUS_SIZE)
  logical :: flag
#ifdef INIT
  external :: INIT
#endif
  call begin(rank, n, 0)
#ifdef INIT
  call INIT(from(1)%on_device, to(1)%on_device, block, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
            MPI_INFO_NULL, requests(1), code)
#endif
  do round = 1, 4
    call begin(rank, n, round)
    call MPI_Allreduce(from(1)%host, to(1)%host, block, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call MPI_Alltoall(from(2)%host, block, MPI_INTEGER, to(2)%host, block, MPI_INTEGER, &
                      MPI_COMM_WORLD, code)
    call MPI_Allreduce(MPI_IN_PLACE, to(3)%host, block, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
#ifdef INIT
    call MPI_Start(requests(1), code)
#else
    call MPI_Iallreduce(from(1)%on_device, to(1)%on_device, block, MPI_INTEGER, MPI_SUM, &
                        MPI_COMM_WORLD, requests(1), code)
#endif
    call MPI_Ialltoall(from(2)%on_device, block, MPI_INTEGER, to(2)%on_device, block, MPI_INTEGER, &
                       MPI_COMM_WORLD, requests(2), code)
    call MPI_Iallreduce(MPI_IN_PLACE, to(3)%on_device, block, MPI_INTEGER, MPI_MAX, &
                        MPI_COMM_WORLD, requests(3), code)
    select case (round)
    case (1)
      call MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE, code)
    case (2)
      k = 0
      do while (k < calls)
        call MPI_Testsome(calls, requests, done, indices, MPI_STATUSES_IGNORE, code)
        if (done > 0) k = k + done
      end do
    case (3)
      do k = 1, calls
        flag = .false.
        do while (.not. flag) ! a status: without one Open MPI 4's never says that it is over
          call MPI_Request_get_status(requests(k), flag, status, code)
        end do
      end do
      call check('got status', round)
      call MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE, code)
    case default
      do k = 1, calls
        call MPI_Wait(requests(k), MPI_STATUS_IGNORE, code)
      end do
    end select
    call check('use mpi', round)
  end do
#ifdef INIT
  call MPI_Request_free(requests(1), code)
#endif
  if (any(requests /= MPI_REQUEST_NULL)) failures = failures + 1
end subroutine

! Each block has a datatype of its own; other calls with other types are made meanwhile. Two blocks
! go to the next process, and come from the one before.
subroutine with_w(rank, n)
  use mpi
  use device_calls
  implicit none
  integer, intent(in) :: rank, n
  integer :: round, code, k, graph, pairs, sent, got, requests(3)
  integer :: counts(n), places(n), types(n), ints(n), twos(2), ones(2)
  integer(MPI_ADDRESS_KIND) :: far(2)
#ifdef INIT
  external :: INIT_W, INIT_NEIGHBOR_W
#endif
  call MPI_Type_vector(7, 1, 2, MPI_INTEGER, pairs, code)
  call MPI_Type_commit(pairs, code)
  counts = 1
  places = [(4 * (k - 1) * block, k = 1, n)]
  types = pairs
  ints = MPI_INTEGER
  far = 4 * [1, block + 3]
  twos = pairs
  ones = 1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, modulo(rank - 1, n) * ones, ones, 2, &
                                      modulo(rank + 1, n) * ones, ones, MPI_INFO_NULL, .false., &
                                      graph, code)
  call begin(rank, n, 0)
#ifdef INIT
  call INIT_NEIGHBOR_W(from(2)%on_device, ones, far, twos, to(2)%on_device, ones, far, twos, &
                       graph, MPI_INFO_NULL, requests(2), code)
  call INIT_W(MPI_IN_PLACE, counts, places, types, to(3)%on_device, counts, places, types, &
              MPI_COMM_WORLD, MPI_INFO_NULL, requests(3), code)
#endif
  do round = 1, 3
    call begin(rank, n, round)
    call MPI_Alltoallw(from(1)%host, counts, places, types, to(1)%host, counts, places, types, &
                       MPI_COMM_WORLD, code)
    call MPI_Neighbor_alltoallw(from(2)%host, ones, far, twos, to(2)%host, ones, far, twos, &
                                graph, code)
    call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, to(3)%host, counts, places, types, &
                       MPI_COMM_WORLD, code)
    call MPI_Ialltoallw(from(1)%on_device, counts, places, types, to(1)%on_device, counts, places, &
                        types, MPI_COMM_WORLD, requests(1), code)
#ifdef INIT
    call MPI_Startall(2, requests(2:), code)
#else
    call MPI_Ineighbor_alltoallw(from(2)%on_device, ones, far, twos, to(2)%on_device, ones, &
                                 far, twos, graph, requests(2), code)
    call MPI_Ialltoallw(MPI_IN_PLACE, counts, places, types, to(3)%on_device, counts, places, &
                        types, MPI_COMM_WORLD, requests(3), code)
#endif
    sent = rank
    call MPI_Alltoallw(from(3)%on_device, counts, places, ints, from(3)%on_device(block:), counts, &
                       places, ints, MPI_COMM_SELF, code)
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, mod(rank + 1, n), 9, got, 1, MPI_INTEGER, &
                      mod(rank + n - 1, n), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, code)
    if (got /= mod(rank + n - 1, n)) failures = failures + 1
    call check('datatypes', round)
  end do
#ifdef INIT
  call MPI_Request_free(requests(2), code)
  call MPI_Request_free(requests(3), code)
#endif
  if (any(requests /= MPI_REQUEST_NULL)) failures = failures + 1
  call MPI_Comm_free(graph, code)
  call MPI_Type_free(pairs, code)
end subroutine

program unaware_requests
  use mpi
  use device_calls
  implicit none
  integer :: rank, n, code, all
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n, code)
  if (cuda_memory_open() == 0) call MPI_Abort(MPI_COMM_WORLD, 1, code)
  call with_f08(rank, n)
  call with_mpi(rank, n)
  if (n > 1) call with_w(rank, n) ! Open MPI 4.1 reads as many types as there are processes
  call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0,a)', all, ' failures'
  call MPI_Finalize(code)
end program
