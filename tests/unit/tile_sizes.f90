! The types of the Fortran module are as large as C's, whose fields they repeat.
program tile_sizes
  use, intrinsic :: iso_c_binding
  use haul_tile
  implicit none
  interface
    subroutine sizes_in_c(sizes) bind(c)
      import
      integer(c_size_t), intent(out) :: sizes(8)
    end subroutine
  end interface
  type(haul_error) :: error
  type(haul_context_options) :: options
  type(haul_array_spec) :: spec
  type(haul_box) :: box
  type(haul_loop_options) :: loop
  type(haul_named_array) :: named
  type(haul_device_cells) :: device
  type(haul_region) :: region
  integer(c_size_t) :: sizes(8)
  call sizes_in_c(sizes)
  print *, 'haul_error          ', c_sizeof(error), sizes(1)
  print *, 'haul_context_options', c_sizeof(options), sizes(2)
  print *, 'haul_array_spec     ', c_sizeof(spec), sizes(3)
  print *, 'haul_box            ', c_sizeof(box), sizes(4)
  print *, 'haul_loop_options   ', c_sizeof(loop), sizes(5)
  print *, 'haul_named_array    ', c_sizeof(named), sizes(6)
  print *, 'haul_device_cells   ', c_sizeof(device), sizes(7)
  print *, 'haul_region         ', c_sizeof(region), sizes(8)
  if (any(sizes /= [c_sizeof(error), c_sizeof(options), c_sizeof(spec), c_sizeof(box), &
    c_sizeof(loop), c_sizeof(named), c_sizeof(device), c_sizeof(region)])) error stop
end program
