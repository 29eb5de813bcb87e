/* SPDX-License-Identifier: MIT */

/* The child of vfork(2) returns on its parent's stack, so no frame of ours may be there: note it, and jump to the real one. */
#if defined(__x86_64__)
	.text
	.globl vfork
	.type vfork, @function
vfork:
	.cfi_startproc
	endbr64
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call object_before_vfork
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
	.size vfork, . - vfork
#endif
	.section .note.GNU-stack, "", @progbits
