! haul/tile.h for Fortran 2003: what a program of tiles calls. Compile it with the program.
! Arrays are in Fortran's order already: the first index is the fastest. Indices of kernels start at 0.
module haul_tile
  use iso_c_binding
  implicit none

  integer(c_int), parameter :: haul_ok = 0
  integer(c_int), parameter :: haul_boundary_fixed = 0, haul_boundary_copy = 1
  integer(c_int), parameter :: haul_boundary_periodic = 2
  integer(c_int), parameter :: haul_use_read = 1, haul_use_write = 2, haul_use_both = 3

  ! haul_error of haul/status.h
  type, bind(c) :: haul_error
    integer(c_int) :: status = 0
    integer(c_int) :: line = 0
    integer(c_int) :: column = 0
    integer(c_int64_t) :: row = 0
    character(kind=c_char) :: table(64)
    character(kind=c_char) :: file(512)
    character(kind=c_char) :: text(512)
  end type

  type, bind(c) :: haul_context_options
    type(c_ptr) :: device_options = c_null_ptr
    integer(c_int64_t) :: memory_bytes = 0
    integer(c_int) :: steps = 0
    integer(c_int) :: region = 0
    integer(c_int) :: rows = 0
    logical(c_bool) :: keep_plan = .false.
    real(c_double) :: host_share = 0
    type(c_ptr) :: machine = c_null_ptr
    type(c_ptr) :: processes = c_null_ptr
    logical(c_bool) :: exchange_first = .false.
    integer(c_int) :: fused = 0
    logical(c_bool) :: check = .false.
    type(c_ptr) :: stream = c_null_ptr
    integer(c_int) :: exchange_steps = 0
    integer(c_int) :: relay = 0
    type(c_ptr) :: trace = c_null_ptr ! a name that ends with c_null_char, as the next
    integer(c_int64_t) :: reserved(1) = 0
  end type

  ! `cells`: c_loc of an array of the program, with the cells beyond the edges, u(0:n+1, 0:n+1, 0:n+1)
  type, bind(c) :: haul_array_spec
    integer(c_int) :: size(3) = 0
    integer(c_int64_t) :: element_bytes = 0
    integer(c_int) :: ghost(3) = 0
    integer(c_int) :: boundary(3) = haul_boundary_fixed
    type(c_ptr) :: boundary_kernel = c_null_ptr
    integer(c_int) :: region = 0
    type(c_ptr) :: file = c_null_ptr
    logical(c_bool) :: on_all = .false.
    integer(c_int) :: element = 0
    type(c_ptr) :: cells = c_null_ptr
    type(c_ptr) :: device_cells = c_null_ptr
    type(c_ptr) :: name = c_null_ptr
    integer(c_int64_t) :: reserved(1) = 0
  end type

  ! An array on the device: cell (x, y, z), from 0, is its element first + z * plane + y * row + x
  type, bind(c) :: haul_device_cells
    type(c_ptr) :: memory = c_null_ptr
    type(c_ptr) :: buffer = c_null_ptr
    integer(c_int64_t) :: first = 0
    integer(c_int64_t) :: row = 0
    integer(c_int64_t) :: plane = 0
  end type

  ! A region on the host, of planes first to end - 1: with c_f_pointer(cells, p, [end - first]) in
  ! one dimension; else cell (x, y, z), from 0, is element (z - first) * plane + y * row + x from there
  type, bind(c) :: haul_region
    type(c_ptr) :: cells = c_null_ptr
    integer(c_int64_t) :: row = 0
    integer(c_int64_t) :: plane = 0
    integer(c_int) :: first = 0
    integer(c_int) :: end = 0
    integer(c_int) :: owner = 0
  end type

  ! The first indices, and those behind the last
  type, bind(c) :: haul_box
    integer(c_int) :: lo(3) = 0
    integer(c_int) :: hi(3) = 0
  end type

  ! `box`: c_loc of a haul_box, or c_null_ptr for all cells
  type, bind(c) :: haul_loop_options
    type(c_ptr) :: box = c_null_ptr
    real(c_double) :: flops = 0
    logical(c_bool) :: on_host = .false.
    type(c_ptr) :: types = c_null_ptr
    integer(c_int64_t) :: reserved(3) = 0
  end type

  ! `name`: c_loc of a text that ends in c_null_char
  type, bind(c) :: haul_named_array
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: array = c_null_ptr
  end type

  interface
    integer(c_int) function haul_context_open(device, options, context, error) bind(c)
      import
      character(kind=c_char), intent(in) :: device(*)
      type(haul_context_options), intent(in) :: options
      type(c_ptr), intent(out) :: context
      type(haul_error), intent(inout) :: error
    end function

    subroutine haul_context_close(context) bind(c)
      import
      type(c_ptr), value :: context
    end subroutine

    integer(c_int) function haul_context_wait(context, error) bind(c)
      import
      type(c_ptr), value :: context
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_context_start(context, error) bind(c)
      import
      type(c_ptr), value :: context
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_context_plan_write(context, path, error) bind(c)
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: path(*)
      type(haul_error), intent(inout) :: error
    end function

    ! `text` is of C's heap: c_f_pointer, then free
    integer(c_int) function haul_context_explain(context, text, error) bind(c)
      import
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: text
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_array_new(context, spec, array, error) bind(c)
      import
      type(c_ptr), value :: context
      type(haul_array_spec), intent(in) :: spec
      type(c_ptr), intent(out) :: array
      type(haul_error), intent(inout) :: error
    end function

    subroutine haul_array_free(array) bind(c)
      import
      type(c_ptr), value :: array
    end subroutine

    integer(c_int) function haul_array_swap(a, b, error) bind(c)
      import
      type(c_ptr), value :: a, b
      type(haul_error), intent(inout) :: error
    end function

    ! Cells of `from` whose flag is not 0 become the first ones of `to`, which may be c_null_ptr
    integer(c_int) function haul_array_compact(from, flags, to, count, error) bind(c)
      import
      type(c_ptr), value :: from, flags, to
      integer(c_int64_t), intent(inout) :: count
      type(haul_error), intent(inout) :: error
    end function

    subroutine haul_array_discard(array) bind(c)
      import
      type(c_ptr), value :: array
    end subroutine

    integer(c_int) function haul_array_save(array, path, error) bind(c)
      import
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: path(*)
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_array_load(array, path, error) bind(c)
      import
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: path(*)
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_arrays_save(arrays, count, path, error) bind(c)
      import
      type(haul_named_array), intent(in) :: arrays(*)
      integer(c_size_t), value :: count
      character(kind=c_char), intent(in) :: path(*)
      type(haul_error), intent(inout) :: error
    end function

    ! Returns when the arrays are copied; a thread writes them while later loops run, until the next
    ! call of these or haul_arrays_save_finish, which returns its failure
    integer(c_int) function haul_arrays_save_start(arrays, count, path, error) bind(c)
      import
      type(haul_named_array), intent(in) :: arrays(*)
      integer(c_size_t), value :: count
      character(kind=c_char), intent(in) :: path(*)
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_arrays_save_finish(context, error) bind(c)
      import
      type(c_ptr), value :: context
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_arrays_load(arrays, count, path, error) bind(c)
      import
      type(haul_named_array), intent(in) :: arrays(*)
      integer(c_size_t), value :: count
      character(kind=c_char), intent(in) :: path(*)
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_array_access_device(array, use, cells, error) bind(c)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: use
      type(haul_device_cells), intent(out) :: cells
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_array_regions(array) bind(c)
      import
      type(c_ptr), value :: array
    end function

    ! `index` from 0
    integer(c_int) function haul_array_access(array, index, use, region, error) bind(c)
      import
      type(c_ptr), value :: array
      integer(c_int), value :: index, use
      type(haul_region), intent(out) :: region
      type(haul_error), intent(inout) :: error
    end function

    ! `cells` is the address of the array: c_loc(u)
    integer(c_int) function haul_array_read(array, cells, error) bind(c)
      import
      type(c_ptr), value :: array, cells
      type(haul_error), intent(inout) :: error
    end function

    integer(c_int) function haul_array_write(array, cells, error) bind(c)
      import
      type(c_ptr), value :: array, cells
      type(haul_error), intent(inout) :: error
    end function

    ! `arguments`: arrays, and the addresses of values. `options` is c_loc of haul_loop_options, or
    ! c_null_ptr.
    integer(c_int) function haul_loop_queue(context, kernel, arguments, count, options, error) bind(c)
      import
      type(c_ptr), value :: context, kernel, options
      type(c_ptr), intent(in) :: arguments(*)
      integer(c_size_t), value :: count
      type(haul_error), intent(inout) :: error
    end function
  end interface
end module
