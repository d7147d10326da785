! The heat equation in Fortran: tiles_heat_f90 [DEVICE]
program heat_f90
  use, intrinsic :: iso_fortran_env, only: error_unit
  use haul_tile
  implicit none
  integer, parameter :: n = 24, steps = 9
  real(c_double), target :: plain(0:n + 1, 0:n + 1, 0:n + 1) = 0, next(0:n + 1, 0:n + 1, 0:n + 1) = 0
  real(c_double), target :: cells(n, n, n), k = 0.1_c_double
  type(haul_error) :: error
  type(haul_context_options) :: options
  type(haul_array_spec) :: spec
  type(c_ptr) :: context, u, v
  character(len=64) :: device = 'host'
  integer :: i, step

  interface
    type(c_ptr) function heat_kernel() bind(c)
      import
    end function
  end interface

  if (command_argument_count() > 0) call get_command_argument(1, device)
  cells = reshape([(real(mod(i, 17), c_double), i = 0, n**3 - 1)], [n, n, n])
  plain(1:n, 1:n, 1:n) = cells
  spec%size = n
  spec%ghost = 1
  call must(haul_context_open(trim(device) // c_null_char, options, context, error))
  call must(haul_array_new(context, spec, u, error))
  call must(haul_array_new(context, spec, v, error))
  call must(haul_array_write(u, c_loc(cells), error))
  do step = 1, steps
    call must(haul_loop_queue(context, heat_kernel(), [u, v, c_loc(k)], 3_c_size_t, c_null_ptr, error))
    call must(haul_array_swap(u, v, error))
    next(1:n, 1:n, 1:n) = plain(1:n, 1:n, 1:n) + k * (plain(0:n - 1, 1:n, 1:n) + plain(2:n + 1, 1:n, 1:n) &
      + plain(1:n, 0:n - 1, 1:n) + plain(1:n, 2:n + 1, 1:n) + plain(1:n, 1:n, 0:n - 1) &
      + plain(1:n, 1:n, 2:n + 1) - 6 * plain(1:n, 1:n, 1:n))
    plain = next
  end do
  call must(haul_array_read(u, c_loc(cells), error))
  call haul_array_free(u)
  call haul_array_free(v)
  call haul_context_close(context)
  print '(a, es8.1)', 'heat in Fortran differs from plain loops by', &
    maxval(abs(cells - plain(1:n, 1:n, 1:n)))
  if (maxval(abs(cells - plain(1:n, 1:n, 1:n))) > 1e-12) stop 1

contains

  subroutine must(status)
    integer(c_int), intent(in) :: status
    if (status == haul_ok) return
    write (error_unit, '(*(a))') error%text(:findloc(error%text, c_null_char, 1) - 1)
    stop 1
  end subroutine
end program
