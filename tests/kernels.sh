#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/kernels.sh KERNEL [CASE...]
#
# Tries the record in the kernel on another kernel of Debian, in QEMU, without KVM. KERNEL is a package that apt knows
# (linux-image-amd64, linux-image-6.12-amd64, linux-image-6.1.0-56-amd64), or a file linux-image-*.deb; a kernel for the
# cloud does not do, since it has no 9p. Each CASE is one of tests/cases/kernel with its words, as one argument.
#
# The guest sees the files of this machine, read-only, and so runs the programs of build/ ($BUILD) with the strace, make,
# gcc, git and python3 of this machine; /tmp is an ext4 of its own. It loads the programs (ftrac doctor), then runs the
# cases, which compare calls with strace's. Prints what they print, at the end what was compared, and fails if anything
# differs, if a case is skipped that the kernel can run, or if nothing was compared.
#
# Needs no root. Needs qemu-system-x86, busybox-static, kmod, cpio, e2fsprogs, xz-utils, and what ./setup tests installs.

set -eu
export LC_ALL=C.UTF-8

die() {
	echo "kernels.sh: $*" >&2
	exit 1
}

# What each case prints of its comparisons.
figures='[0-9]+ (calls|rows|requests|processes|samples).* (compared|recorded)'

# ---- in the guest, as its first process ----

# run_case NAME [WORD...]: what `both` takes is not in kernels before 6.9, which may refuse it.
run_case() {
	name=$1
	shift
	echo "kernels.sh: --- $name $*"
	status=0
	python3 -u "$top/tests/cases/kernel/$name.py" "$@" </dev/null || status=$?
	if [ $status -eq 77 ] && [ "$name" = kernel_both ] && ! has_passthrough; then
		echo "kernels.sh: $name is not for this kernel" && return
	fi
	[ $status -eq 0 ] || failed="$failed $name"
}

has_passthrough() {
	IFS=.- read -r major minor rest <<-END
		$(uname -r)
	END
	[ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 9 ]; }
}

inside() {
	top=$1 build=$2 failed=
	export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp FTRAC="$build/ftrac/ftrac" PROCMON="$build/procmon/procmon" \
		WFDAG="$build/dag/wfdag" WFSTAT="$build/dag/wfstat" WFREPORT="$build/dag/wfreport" WORK="$build/tests/work" PYTHONPATH="$top/tests/lib" PYTHONDONTWRITEBYTECODE=1
	mount -t tmpfs tmpfs /run
	mkdir -p /dev/pts /dev/shm /tmp/var
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t bpf bpf /sys/fs/bpf
	mount -t fusectl fusectl /sys/fs/fuse/connections
	chmod 1777 /tmp /tmp/var /dev/shm
	mount --bind /tmp/var /var/tmp
	cd /tmp

	echo "kernels.sh: --- Linux $(uname -r): ftrac doctor"
	"$FTRAC" doctor
	"$FTRAC" doctor | grep -q '^yes.*--files kernel' || failed=" doctor"
	while read -r case; do
		# shellcheck disable=SC2086 # words
		run_case $case
	done </tmp/cases
	echo "kernels.sh: the guest's end;${failed:- nothing} failed"
	sync
	echo o >/proc/sysrq-trigger
	while :; do :; done # the first process may not end
}

if [ "${1-}" = --inside ]; then
	inside "$2" "$3"
fi

# ---- on this machine ----

[ $# -gt 0 ] || { echo "usage: tests/kernels.sh PACKAGE|FILE.deb [CASE...]" >&2 && exit 2; }
kernel=$1
shift
[ $# -gt 0 ] || set -- "kernel_strace io maps pipes" "kernel_both io make python asynchronous runs" \
	"kernel_programs tar git" "kernel_load --processes 40 --load 1"

top=$(cd "$(dirname "$0")/.." && pwd)
build=$(readlink -f "${BUILD:-$top/build}")
PATH=$PATH:/usr/sbin:/sbin
missing=
for need in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static modprobe:kmod cpio:cpio mke2fs:e2fsprogs xz:xz-utils \
	strace:strace bpftool:bpftool python3:python3 make:make gcc:gcc git:git; do
	command -v "${need%:*}" >/dev/null || missing="$missing ${need#*:}"
done
[ -z "$missing" ] || die "programs are missing; run: apt-get install$missing"
! ldd "$(command -v busybox)" >/dev/null 2>&1 || die "busybox here is not static; run: apt-get install busybox-static"
[ -x "$build/tests/work/kernel_events" ] || die "no programs in '$build' with the record in the kernel; run ./setup tests"
case $top/:$build/ in
/tmp/* | /var/tmp/* | *:/tmp/* | *:/var/tmp/*) die "the guest does not see '$top': /tmp and /var/tmp are its own" ;;
esac

work=$(mktemp -d "${TMPDIR:-/var/tmp}/ftrac-kernels.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work"

# get_kernel PACKAGE|FILE: unpacks it into $work/kernel. A package without version stands for the one that it depends on.
get_kernel() {
	file=$1
	if [ "${1%.deb}" = "$1" ]; then
		exact=$(apt-cache depends "$1" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
		(cd "$work" && apt-get -q download "${exact:-$1}" >get.log 2>&1) ||
			die "cannot download '$1': $(grep '^E: ' "$work/get.log" | head -n 1 | cut -c 4-); run: apt-get update"
		file=$(echo "$work"/*.deb)
	fi
	dpkg-deb -x "$file" "$work/kernel" || die "cannot unpack '$file'"
	[ -d "$work/kernel/lib" ] || ln -s usr/lib "$work/kernel/lib"
	version=$(basename "$(echo "$work"/kernel/boot/vmlinuz-*)")
	version=${version#vmlinuz-}
	[ -d "$work/kernel/lib/modules/$version" ] || die "'$file' has no kernel with modules"
	depmod -b "$work/kernel" "$version"
}

# modules_for NAME...: the files of what must be loaded, in order.
modules_for() {
	for name; do
		modprobe -C /dev/null -d "$work/kernel" -S "$version" --show-depends "$name" 2>/dev/null ||
			die "Linux $version has no module '$name'; take a package linux-image-*-amd64, not one of the cloud"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# make_initramfs: modules, and an init that goes on with this script. The guest's root is a file system of its own, on which
# are this machine's directories: ftrac's mounts of a root that is read-only would be so, too.
make_initramfs() {
	root=$work/initramfs n=100
	mkdir -p "$root/bin" "$root/modules" "$root/proc" "$root/sys" "$root/dev" "$root/host" "$root/files"
	cp "$(command -v busybox)" "$root/bin/busybox"
	modules_for virtio_pci virtio_blk 9pnet_virtio 9p crc32c ext4 fuse >"$work/modules"
	while read -r file; do
		n=$((n + 1))
		case $file in
		*.xz) xz -dc "$file" >"$root/modules/$n.ko" ;;
		*) cp "$file" "$root/modules/$n.ko" ;;
		esac
	done <"$work/modules"
	cat >"$root/init" <<-END
		#!/bin/busybox sh
		set -e
		/bin/busybox --install -s /bin
		mount -t devtmpfs dev /dev
		exec </dev/null >/dev/ttyS0 2>&1
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		for module in /modules/*; do insmod \$module; done
		ip link set lo up
		mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 root /files
		mount -t tmpfs -o mode=755 root /host
		for file in /files/*; do
			name=\${file#/files/}
			if [ -L "\$file" ]; then
				cp -d "\$file" "/host/\$name"
			elif [ -d "\$file" ]; then
				mkdir "/host/\$name"
				case \$name in proc | sys | dev | run | tmp) ;; *) mount --bind "\$file" "/host/\$name" ;; esac
			fi
		done
		mount -t ext4 /dev/vda /host/tmp
		for dir in proc sys dev; do mount --move /\$dir /host/\$dir; done
		exec switch_root /host /bin/sh "$top/tests/kernels.sh" --inside "$top" "$build"
	END
	chmod 755 "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc) >"$work/initrd"
}

# make_disk CASE...: the guest's /tmp.
make_disk() {
	mkdir "$work/tmp"
	printf '%s\n' "$@" >"$work/tmp/cases"
	truncate -s 4G "$work/disk"
	mke2fs -q -t ext4 -d "$work/tmp" "$work/disk"
}

# boot: what the guest prints. With a thread for each processor, guests hang at an instruction that the kernel patches.
boot() {
	timeout "${KERNELS_TIMEOUT:-3600}" nice -n 10 qemu-system-x86_64 -accel tcg,thread=single -cpu max,la57=off -smp 2 -m 2G \
		-nodefaults -no-user-config -display none -serial stdio -no-reboot \
		-kernel "$work/kernel/boot/vmlinuz-$version" -initrd "$work/initrd" \
		-append "console=ttyS0 loglevel=4 panic=-1 no_timer_check nowatchdog" \
		-virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
		-drive "file=$work/disk,if=virtio,format=raw,cache=unsafe" </dev/null 2>&1 || echo "kernels.sh: QEMU ended with $?"
}

get_kernel "$kernel"
make_initramfs
make_disk "$@"
boot | sed -u 's/\r$//' | tee "$work/log"

echo "kernels.sh: === Linux $version: what was compared"
grep -E "$figures|^kernels.sh: ---" "$work/log" || true
grep -q "^kernels.sh: the guest's end; nothing failed$" "$work/log" ||
	die "Linux $version: $(grep "^kernels.sh: the guest's end" "$work/log" || echo "the guest did not come to its end")"
grep -Eq "$figures" "$work/log" || die "Linux $version: nothing was compared"
