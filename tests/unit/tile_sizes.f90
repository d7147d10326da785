! The types of the Fortran module are as large as C's, whose fields they repeat.
program tile_sizes
  use, intrinsic :: iso_c_binding
  use haul_tile
  implicit none
  interface
    subroutine sizes_in_c(sizes) bind(c)
      import
      integer(c_size_t), intent(out) :: sizes(3)
    end subroutine
  end interface
  type(haul_error) :: error
  type(haul_context_options) :: options
  type(haul_array_spec) :: spec
  integer(c_size_t) :: sizes(3)
  call sizes_in_c(sizes)
  print *, 'haul_error          ', c_sizeof(error), sizes(1)
  print *, 'haul_context_options', c_sizeof(options), sizes(2)
  print *, 'haul_array_spec     ', c_sizeof(spec), sizes(3)
  if (any(sizes /= [c_sizeof(error), c_sizeof(options), c_sizeof(spec)])) error stop
end program
