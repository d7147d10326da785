! A Fortran program that knows nothing of haul: `use mpi` and mpi_f08, in place and not; the same
! sums with and without the preloaded library.
module sums
  implicit none
contains
  function sum_of(values) result(all)
    integer, intent(in) :: values(:)
    integer :: all, i
    all = 0
    do i = 1, size(values)
      all = mod(all * 31 + values(i), 1000003)
    end do
  end function
end module

subroutine with_f08(sum)
  use mpi_f08
  use sums
  implicit none
  integer, intent(inout) :: sum
  integer :: rank, n, i
  integer, allocatable :: send(:), receive(:), counts(:), places(:)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  allocate(send(10 * n), receive(10 * n), counts(n), places(n))
  send = [(i * 7 + rank * 1001, i = 1, 10 * n)]
  call MPI_Alltoall(send, 10, MPI_INTEGER, receive, 10, MPI_INTEGER, MPI_COMM_WORLD)
  sum = sum + sum_of(receive)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, 10, MPI_INTEGER, MPI_COMM_WORLD)
  sum = sum + sum_of(receive)
  counts = [(mod(i - 1 + rank, 3) * 3, i = 1, n)]
  places = [((i - 1) * 10, i = 1, n)]
  call MPI_Alltoallv(send, counts, places, MPI_INTEGER, receive, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD)
  sum = sum + sum_of(receive)
end subroutine

program unaware
  use mpi
  use sums
  implicit none
  integer :: rank, n, i, code, sum, all
  integer, allocatable :: send(:), receive(:), counts(:), places(:)
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n, code)
  allocate(send(10 * n), receive(10 * n), counts(n), places(n))
  sum = 0
  send = [(i * 3 + rank * 101, i = 1, 10 * n)]
  call MPI_Alltoall(send, 10, MPI_INTEGER, receive, 10, MPI_INTEGER, MPI_COMM_WORLD, code)
  sum = sum + sum_of(receive)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, receive, 10, MPI_INTEGER, MPI_COMM_WORLD, code)
  sum = sum + sum_of(receive)
  counts = [(mod(i - 1 + rank, 3) * 3, i = 1, n)]
  places = [((i - 1) * 10, i = 1, n)]
  call MPI_Alltoallv(send, counts, places, MPI_INTEGER, receive, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, code)
  sum = sum + sum_of(receive)
  call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, receive, counts, places, &
                     MPI_INTEGER, MPI_COMM_WORLD, code)
  sum = sum + sum_of(receive)
  call with_f08(sum)
  call MPI_Reduce(sum, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0)', 'sum ', all
  call MPI_Finalize(code)
end program
