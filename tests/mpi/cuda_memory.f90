! The functions of cuda_memory.c, and one of two arrays.
module cuda_memory
  use iso_c_binding
  implicit none
  interface
    function cuda_memory_open() bind(c) result(is_there)
      import :: c_int
      integer(c_int) :: is_there
    end function
    function cuda_memory_new(bytes) bind(c) result(at)
      import :: c_size_t, c_ptr
      integer(c_size_t), value :: bytes
      type(c_ptr) :: at
    end function
    subroutine cuda_memory_write(at, from, bytes) bind(c)
      import :: c_size_t, c_ptr, c_int
      type(c_ptr), value :: at
      integer(c_int), intent(in) :: from(*)
      integer(c_size_t), value :: bytes
    end subroutine
    subroutine cuda_memory_read(to, at, bytes) bind(c)
      import :: c_size_t, c_ptr, c_int
      integer(c_int), intent(out) :: to(*)
      type(c_ptr), value :: at
      integer(c_size_t), value :: bytes
    end subroutine
  end interface
contains
  ! Two arrays of n integers of the GPU, and their addresses.
  subroutine cuda_memory_pair(n, at, first, second)
    integer, intent(in) :: n
    type(c_ptr), intent(out) :: at(2)
    integer, pointer, contiguous, intent(out) :: first(:), second(:)
    integer :: i
    do i = 1, 2
      at(i) = cuda_memory_new(int(4 * n, c_size_t))
    end do
    call c_f_pointer(at(1), first, [n])
    call c_f_pointer(at(2), second, [n])
  end subroutine
end module
