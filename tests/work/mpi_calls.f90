! SPDX-License-Identifier: MIT
! Some calls of MPI-IO by the module mpi, or mpi_f08 with -DF08: 4 processes write a strided file together, and read it alone.
program calls
#ifdef F08
	use mpi_f08
	implicit none
	type(MPI_File) :: file
	type(MPI_Datatype) :: blocks
	type(MPI_Status) :: status
#else
	use mpi
	implicit none
	integer :: file, blocks, status(MPI_STATUS_SIZE)
#endif
	integer :: rank, n, error, numbers(1000)
	integer(kind=MPI_OFFSET_KIND) :: at

	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	call MPI_Comm_size(MPI_COMM_WORLD, n, error)
	numbers = rank
	call MPI_Type_vector(10, 100, 100 * n, MPI_INTEGER, blocks, error)
	call MPI_Type_commit(blocks, error)
	call MPI_File_open(MPI_COMM_WORLD, "fortran", MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
	at = 400 * rank
	call MPI_File_set_view(file, at, MPI_INTEGER, blocks, "native", MPI_INFO_NULL, error)
	call MPI_File_write_all(file, numbers, 1000, MPI_INTEGER, MPI_STATUS_IGNORE, error)
	call MPI_File_sync(file, error)
	at = 100
	call MPI_File_read_at(file, at, numbers, 100, MPI_INTEGER, status, error)
	call MPI_File_close(file, error)
	call MPI_Finalize(error)
end program
