/* SPDX-License-Identifier: MIT */
/*
 * The programs that run in the kernel, as one object: libbpf 1.1 cannot link several that call functions of the kernel.
 */

#include "attach.bpf.h"
#include "devices.bpf.h"
#include "enter_mount.bpf.h"
#include "files.bpf.h"
#include "leave.bpf.h"
#include "names.bpf.h"
#include "process.bpf.h"
#include "uring.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
