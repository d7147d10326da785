! Calls of tiles that the example in Fortran has not: boxes, loops on the host, discards, files.
! tile_fortran DEVICE FILES
program tile_fortran
  use haul_tile
  implicit none
  integer, parameter :: n = 8
  real(c_double), target :: cells(n, n, n) = 0, got(n, n, n), k = 0.5_c_double
  character(kind=c_char), dimension(2), target :: name_u = ['u', c_null_char], name_v = ['v', c_null_char]
  type(haul_error) :: error
  type(haul_context_options) :: options
  type(haul_array_spec) :: spec
  type(haul_box), target :: box
  type(haul_loop_options), target :: loop
  type(haul_named_array) :: arrays(2)
  type(c_ptr) :: context, u, v
  type(haul_device_cells) :: there
  real(c_double), target :: own(0:n + 1, 0:n + 1, 0:n + 1)
  character(len=64) :: device, path

  interface
    type(c_ptr) function heat_kernel() bind(c)
      import
    end function
  end interface

  call get_command_argument(1, device)
  call get_command_argument(2, path)
  spec%size = n
  spec%ghost = 1
  call must(haul_context_open(trim(device) // c_null_char, options, context, error))
  call must(haul_array_new(context, spec, u, error))
  call must(haul_array_new(context, spec, v, error))
  cells(4, 4, 4) = 1
  call must(haul_array_write(u, c_loc(cells), error))
  call must(haul_array_write(v, c_loc(cells), error))

  ! indices from 0: the box has the cell's neighbour behind it, not the one before
  box%lo = 3
  box%hi = [5, 4, 4]
  loop%box = c_loc(box)
  loop%flops = 8
  loop%on_host = .true.
  call must(haul_loop_queue(context, heat_kernel(), [u, v, c_loc(k)], 3_c_size_t, c_loc(loop), error))
  call must(haul_array_read(v, c_loc(got), error))
  cells(4, 4, 4) = 1 - 6 * k
  cells(5, 4, 4) = k
  if (any(abs(got - cells) > 0)) error stop 'a box of two cells'

  arrays = [haul_named_array(c_loc(name_u), u), haul_named_array(c_loc(name_v), v)]
  call must(haul_arrays_save(arrays, 2_c_size_t, trim(path) // '.npz' // c_null_char, error))
  call must(haul_arrays_save_start(arrays, 2_c_size_t, trim(path) // '.npz' // c_null_char, error))
  call must(haul_arrays_save_finish(context, error))
  call must(haul_array_save(v, trim(path) // '.npy' // c_null_char, error))
  call haul_array_discard(v)
  call must(haul_arrays_load(arrays, 2_c_size_t, trim(path) // '.npz' // c_null_char, error))
  call must(haul_array_read(v, c_loc(got), error))
  if (any(abs(got - cells) > 0)) error stop 'a file of two arrays'
  call must(haul_array_load(u, trim(path) // '.npy' // c_null_char, error))
  call must(haul_array_read(u, c_loc(got), error))
  if (any(abs(got - cells) > 0)) error stop 'a file of one array'
  call try_regions
  call try_compact
  call haul_array_free(u)
  call haul_array_free(v)

  if (index(device, ',') == 0) call try_own_memory
  call haul_context_close(context)

contains

  ! each cell by its indices, and the same cells read as a whole
  subroutine try_regions
    type(haul_region) :: region
    real(c_double), pointer :: plane(:)
    integer :: i, x, y, z
    call must(haul_context_start(context, error))
    do i = 0, haul_array_regions(u) - 1
      call must(haul_array_access(u, i, haul_use_both, region, error))
      call c_f_pointer(region%cells, plane, [(region%end - region%first) * region%plane])
      do z = max(region%first, 0), min(region%end, n) - 1
        do y = 0, n - 1
          do x = 0, n - 1
            plane((z - region%first) * region%plane + y * region%row + x + 1) = x + 10 * y + 100 * z
          end do
        end do
      end do
    end do
    call must(haul_array_read(u, c_loc(got), error))
    do z = 1, n
      do y = 1, n
        do x = 1, n
          if (abs(got(x, y, z) - (x - 1 + 10 * (y - 1) + 100 * (z - 1))) > 0) error stop 'cells of regions'
        end do
      end do
    end do
  end subroutine

  ! u's own indices, as set above: those of one x
  subroutine try_compact
    integer(c_int), target :: chosen(n, n, n)
    integer(c_int64_t) :: count
    type(c_ptr) :: flags
    spec%element_bytes = 4
    call must(haul_array_new(context, spec, flags, error))
    spec%element_bytes = 0
    chosen = 0
    chosen(3, :, :) = 1
    call must(haul_array_write(flags, c_loc(chosen), error))
    call must(haul_array_compact(u, flags, v, count, error))
    call must(haul_array_read(v, c_loc(got), error))
    if (count /= n * n) error stop 'how many are kept'
    if (any(abs(got(1:3, 1, 1) - [2, 12, 22]) > 0)) error stop 'cells that are kept'
    call haul_array_free(flags)
  end subroutine

  subroutine try_own_memory
    ! an array of the program's own, with the cells beyond the edges
    own = 0
    own(1:n, 1:n, 1:n) = cells
    spec%cells = c_loc(own)
    call must(haul_array_new(context, spec, u, error))
    spec%cells = c_null_ptr
    call must(haul_array_new(context, spec, v, error))
    call must(haul_loop_queue(context, heat_kernel(), [v, u, c_loc(k)], 3_c_size_t, c_null_ptr, error))
    call must(haul_array_access_device(u, haul_use_read, there, error))
    if (there%plane /= (n + 2)**2) error stop 'the cells follow each other'
    call haul_array_free(u)
    if (any(abs(own(1:n, 1:n, 1:n)) > 0)) error stop 'the program has what the loop has set'
    call haul_array_free(v)
  end subroutine

  subroutine must(status)
    integer(c_int), intent(in) :: status
    if (status == haul_ok) return
    print '(*(a))', error%text(:findloc(error%text, c_null_char, 1) - 1)
    error stop
  end subroutine
end program
