! A Fortran program that knows nothing of haul and hands a GPU's memory to MPI, by mpi_f08 and by
! `use mpi`: with the preloaded library each call gives what it gives on the host.
module device_memory
  use cuda_memory
  use iso_c_binding
  implicit none
  integer, parameter :: block = 30
  type(c_ptr) :: at(2)
  integer, pointer, contiguous :: send(:), receive(:)
  integer, allocatable :: host_send(:), host(:), expected(:), got(:)
  integer :: failures = 0
contains
  subroutine new_memory(n)
    integer, intent(in) :: n
    call cuda_memory_pair(n, at, send, receive)
    allocate(host_send(n), host(n), expected(n), got(n))
  end subroutine
  subroutine begin(rank)
    integer, intent(in) :: rank
    integer :: i
    host_send = [(i * 7 + rank * 1001, i = 1, size(host))]
    host = [(-i - rank, i = 1, size(host))]
    expected = host
    call cuda_memory_write(at(1), host_send, int(4 * size(host), c_size_t))
    call cuda_memory_write(at(2), host, int(4 * size(host), c_size_t))
  end subroutine
  subroutine check(what)
    character(*), intent(in) :: what
    call cuda_memory_read(got, at(2), int(4 * size(host), c_size_t))
    if (any(got /= expected)) then
      failures = failures + 1
      print '(2a)', what, ' differs'
    end if
  end subroutine
end module

subroutine with_f08(rank, n)
  use mpi_f08
  use device_memory
  implicit none
  integer, intent(in) :: rank, n
  type(MPI_Datatype) :: types(n)
  integer :: counts(n), places(n), bytes(n), i
  counts = [(mod(i, 3) + 1, i = 1, n)]
  places = [((i - 1) * block, i = 1, n)]
  bytes = 4 * places
  types = MPI_INTEGER
  call begin(rank)
  call MPI_Alltoall(host_send, block, MPI_INTEGER, expected, block, MPI_INTEGER, MPI_COMM_WORLD)
  call MPI_Alltoall(send, block, MPI_INTEGER, receive, block, MPI_INTEGER, MPI_COMM_WORLD)
  call check('f08 alltoall')
  call begin(rank)
  call MPI_Allreduce(host_send, expected, block, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(send, receive, block, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check('f08 allreduce')
  call begin(rank)
  call MPI_Allgatherv(host_send, counts(rank + 1), MPI_INTEGER, expected, counts, places, &
                      MPI_INTEGER, MPI_COMM_WORLD)
  call MPI_Allgatherv(send, counts(rank + 1), MPI_INTEGER, receive, counts, places, MPI_INTEGER, &
                      MPI_COMM_WORLD)
  call check('f08 allgatherv')
  call begin(rank)
  counts = [(abs(i - 1 - rank), i = 1, n)]
  call MPI_Alltoallw(host_send, counts, bytes, types, expected, counts, bytes, types, &
                     MPI_COMM_WORLD)
  call MPI_Alltoallw(send, counts, bytes, types, receive, counts, bytes, types, MPI_COMM_WORLD)
  call check('f08 alltoallw')
  call begin(rank)
  call MPI_Bcast(expected, block, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call MPI_Bcast(receive, block, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call check('f08 bcast')
end subroutine

subroutine with_w(rank, n, ring)
  use mpi
  use device_memory
  implicit none
  integer, intent(in) :: rank, n, ring
  integer :: graph, code, types(3)
  integer(MPI_ADDRESS_KIND) :: places(3)
  types = MPI_INTEGER
  places = 4 * [3, block, block + 12]
  call begin(rank)
  call MPI_Neighbor_alltoallw(host_send, [7, 7], places, types, expected, [7, 7], places, types, &
                              ring, code)
  call MPI_Neighbor_alltoallw(send, [7, 7], places, types, receive, [7, 7], places, types, ring, code)
  call check('neighbor_alltoallw')
  ! two blocks to the next process, and from the one before
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, modulo(rank - 1, n) * [1, 1], [1, 1], 2, &
                                      modulo(rank + 1, n) * [1, 1], [1, 1], MPI_INFO_NULL, &
                                      .false., graph, code)
  call begin(rank)
  call MPI_Neighbor_alltoallw(host_send, [5, 6], places, types, expected, [5, 6], places(2:), &
                              types, graph, code)
  call MPI_Neighbor_alltoallw(send, [5, 6], places, types, receive, [5, 6], places(2:), types, &
                              graph, code)
  call check('neighbor_alltoallw of a graph')
  call MPI_Comm_free(graph, code)
end subroutine

program unaware_cuda
  use mpi
  use device_memory
  implicit none
  integer :: rank, n, code, all, ring
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n, code)
  if (cuda_memory_open() == 0) call MPI_Abort(MPI_COMM_WORLD, 1, code)
  call new_memory(n * block + 2 * block)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring, code)
  call begin(rank)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, expected, block, MPI_INTEGER, MPI_COMM_WORLD, &
                     code)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, receive, block, MPI_INTEGER, MPI_COMM_WORLD, &
                     code)
  call check('allgather in place')
  call begin(rank)
  call MPI_Allreduce(MPI_IN_PLACE, expected, block, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
  call MPI_Allreduce(MPI_IN_PLACE, receive, block, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
  call check('allreduce in place')
  call begin(rank)
  call MPI_Neighbor_alltoall(host_send, block, MPI_INTEGER, expected, block, MPI_INTEGER, ring, code)
  call MPI_Neighbor_alltoall(send, block, MPI_INTEGER, receive, block, MPI_INTEGER, ring, code)
  call check('neighbor_alltoall')
  if (n > 1) call with_w(rank, n, ring) ! Open MPI 4.1 reads as many types as there are processes
  call with_f08(rank, n)
  call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0,a)', all, ' failures'
  call MPI_Finalize(code)
end program
