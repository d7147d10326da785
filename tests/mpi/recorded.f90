! The same in Fortran, by `use mpi` and mpi_f08: a late sender, a ring without waiting, a sum.
subroutine with_f08(rank, n)
  use mpi_f08
  implicit none
  integer, intent(in) :: rank, n
  integer :: got(100), sent(100)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  sent = rank
  call MPI_Irecv(got, 100, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(sent, 100, MPI_INTEGER, mod(rank + 1, n), 5, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  if (got(100) /= mod(rank + n - 1, n)) error stop 'wrong ring'
  if (rank == 0) then
    call MPI_Send(sent, 100, MPI_INTEGER, 1, 6, MPI_COMM_WORLD)
  else if (rank == 1) then
    call MPI_Recv(got, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    if (status%MPI_SOURCE /= 0 .or. status%MPI_TAG /= 6) error stop 'wrong status'
  end if
end subroutine

program recorded
  use mpi
  implicit none
  integer :: rank, n, code, sum, status(MPI_STATUS_SIZE)
  integer, allocatable :: values(:)
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n, code)
  allocate(values(1000))
  values = 3
  if (rank == 0) then
    call execute_command_line('sleep 0.05')
    call MPI_Send(values, 1000, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, code)
  else if (rank == 1) then
    call MPI_Recv(values, 1000, MPI_INTEGER, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, status, code)
    if (status(MPI_SOURCE) /= 0) error stop 'wrong source'
  end if
  call with_f08(rank, n)
  call MPI_Allreduce(1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0)', 'sum ', sum
  call MPI_Finalize(code)
end program
