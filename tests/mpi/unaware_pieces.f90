! A Fortran program that knows nothing of haul and hands MPI large pieces of a GPU's memory, by `use
! mpi` and mpi_f08, where some processes' memory is the host's: with the preloaded library each call
! gives what it gives on the host.
module large_memory
  use cuda_memory
  use iso_c_binding
  implicit none
  integer, parameter :: block = 20000
  type(c_ptr) :: at(2)
  integer, pointer, contiguous :: from(:), to(:)  ! of this call: the GPU's or the host's
  integer, pointer, contiguous :: device_from(:), device_to(:), host_from(:), host_to(:)
  integer, allocatable :: expected(:)
  integer :: failures = 0
  logical :: on_host
contains
  subroutine new_memory(n)
    integer, intent(in) :: n
    call cuda_memory_pair(n, at, device_from, device_to)
    allocate(host_from(n), host_to(n), expected(n))
  end subroutine
  subroutine begin(rank, round)
    integer, intent(in) :: rank, round
    integer :: i
    on_host = mod(rank + round, 2) == 1 .or. round == 4
    host_from = [(i * 7 + rank * 1001, i = 1, size(expected))]
    host_to = [(-i - rank, i = 1, size(expected))]
    expected = host_to
    if (on_host) then
      from => host_from
      to => host_to
    else
      from => device_from
      to => device_to
      call cuda_memory_write(at(1), host_from, int(4 * size(expected), c_size_t))
      call cuda_memory_write(at(2), host_to, int(4 * size(expected), c_size_t))
    end if
  end subroutine
  subroutine check(what)
    character(*), intent(in) :: what
    if (.not. on_host) call cuda_memory_read(host_to, at(2), int(4 * size(expected), c_size_t))
    if (any(host_to /= expected)) then
      failures = failures + 1
      print '(2a)', what, ' differs'
    end if
  end subroutine
end module

subroutine with_mpi(rank, n, round)
  use mpi
  use large_memory
  implicit none
  integer, intent(in) :: rank, n, round
  integer :: code, k, counts(n), places(n), bytes(n), types(n)
  counts = [(block - 100 * abs(rank - k), k = 0, n - 1)]
  places = [((k - 1) * block, k = 1, n)]
  bytes = 4 * places
  types = MPI_INTEGER
  call begin(rank, round)
  call MPI_Allreduce(host_from, expected, block, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Allreduce(from, to, block, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call check('allreduce')
  call begin(rank, round)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, expected, block, MPI_INTEGER, MPI_COMM_WORLD, &
                     code)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, to, block, MPI_INTEGER, MPI_COMM_WORLD, code)
  call check('allgather in place')
  call begin(rank, round)
  call MPI_Alltoall(host_from, block, MPI_INTEGER, expected, block, MPI_INTEGER, MPI_COMM_WORLD, &
                    code)
  call MPI_Alltoall(from, block, MPI_INTEGER, to, block, MPI_INTEGER, MPI_COMM_WORLD, code)
  call check('alltoall')
  call begin(rank, round)
  call MPI_Alltoallw(host_from, counts, bytes, types, expected, counts, bytes, types, &
                     MPI_COMM_WORLD, code)
  call MPI_Alltoallw(from, counts, bytes, types, to, counts, bytes, types, MPI_COMM_WORLD, code)
  call check('alltoallw')
  call begin(rank, round)
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, expected, counts, places, &
                     MPI_INTEGER, MPI_COMM_WORLD, code)
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, to, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, code)
  call check('alltoallv in place')
end subroutine

subroutine with_f08(rank, n, round)
  use mpi_f08
  use large_memory
  implicit none
  integer, intent(in) :: rank, n, round
  integer :: k, counts(n), places(n)
  counts = [(block - 10 * k, k = 1, n)]
  places = [((k - 1) * block, k = 1, n)]
  call begin(rank, round)
  call MPI_Bcast(expected, block, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
  call MPI_Bcast(to, block, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
  call check('f08 bcast')
  call begin(rank, round)
  call MPI_Allgatherv(host_from, counts(rank + 1), MPI_INTEGER, expected, counts, places, &
                      MPI_INTEGER, MPI_COMM_WORLD)
  call MPI_Allgatherv(from, counts(rank + 1), MPI_INTEGER, to, counts, places, MPI_INTEGER, &
                      MPI_COMM_WORLD)
  call check('f08 allgatherv')
end subroutine

program unaware_pieces
  use mpi
  use large_memory
  implicit none
  integer :: rank, n, code, all, round, graph, ones(1)
  ones = 1
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n, code)
  if (cuda_memory_open() == 0) call MPI_Abort(MPI_COMM_WORLD, 1, code)
  call new_memory(n * block)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, modulo(rank - 1, n) * ones, ones, 1, &
                                      modulo(rank + 1, n) * ones, ones, MPI_INFO_NULL, .false., &
                                      graph, code)
  do round = 1, 5
    call with_mpi(rank, n, round)
    call with_f08(rank, n, round)
    call begin(rank, round)
    call MPI_Neighbor_alltoall(host_from, block, MPI_INTEGER, expected, block, MPI_INTEGER, graph, &
                               code)
    call MPI_Neighbor_alltoall(from, block, MPI_INTEGER, to, block, MPI_INTEGER, graph, code)
    call check('neighbor_alltoall')
  end do
  call MPI_Comm_free(graph, code)
  call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0,a)', all, ' failures'
  call MPI_Finalize(code)
end program
