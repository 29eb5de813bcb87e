/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_NAMES_BPF_H
#define KERNEL_NAMES_BPF_H

/*
 * Names of files: each component of a path is sent once, with the id of its directory's name.
 *
 * name_of() walks from a file upwards up to a name that is known, and then sends the unknown ones from the top
 * down.  So a record that uses a name follows the records of all of its parents, whichever processors sent them.  A name
 * becomes known when its record was sent: if the ring is full, it is tried again with the next use.
 */

#include "state.bpf.h"

/* Offsets in types of btrfs, which may be a module. */
const volatile struct {
	uint32_t is_known;
	uint32_t inode; /* of the inode in struct btrfs_inode */
	uint32_t root;	/* of the pointer to the subvolume in it */
	uint32_t dev;	/* of the device in struct btrfs_root */
} kernel_btrfs = { 0 };

/* A place in a tree: the same directory has several if it is mounted several times. */
struct place {
	uint64_t dentry;
	uint64_t mnt;
};

/* What a name was when it was sent. After a rename, or if the memory is of another file now, it differs. */
struct name {
	uint64_t parent;
	uint64_t hash;
	uint64_t ino;
	uint32_t generation;
	uint32_t type;
	uint64_t id;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 131072);
	__type(key, struct place);
	__type(value, struct name);
} kernel_names SEC(".maps");

/*
 * The names that a processor has used last, so that most paths need no look-up in the large table, whose memory is rarely in
 * a cache.  What is kept is no longer used when a place has got another name.
 */
#define KEPT 512

struct kept {
	struct place place;
	struct name name;
	uint32_t epoch;
	uint32_t pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KEPT);
	__type(key, uint32_t);
	__type(value, struct kept);
} kernel_kept SEC(".maps");

uint32_t kernel_name_epoch; /* grows when a place gets another name */

/* The unknown names of one walk that are remembered: the uppermost ones.  A power of two. */
#define CHAIN 64
#define NAME_MOST 255
#define BTRFS_MAGIC 0x9123683e
#define DEEPEST 2048 /* components of a path that is as long as it may be */

struct walk {
	struct place at;
	struct place chain[CHAIN];
	uint64_t parent; /* the id of the name above the chain */
	uint32_t n;
	uint32_t done;
	struct wire_name record;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct walk);
} kernel_walk SEC(".maps");

inlined struct walk *walk_of_processor(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&kernel_walk, &zero);
}

inlined void look_at(const struct place *place, struct name *ret_name)
{
	uint64_t inode = POINTER(dentry, place->dentry, d_inode);

	ret_name->parent = POINTER(dentry, place->dentry, d_parent);
	ret_name->hash = FIELD(dentry, place->dentry, d_name.hash_len);
	ret_name->ino = inode ? FIELD(inode, inode, i_ino) : 0;
	ret_name->generation = inode ? FIELD(inode, inode, i_generation) : 0;
	ret_name->type = inode ? FIELD(inode, inode, i_mode) & S_IFMT : 0;
	ret_name->id = 0;
}

inlined struct kept *kept_at(const struct place *place)
{
	uint32_t i = (place->dentry >> 6 ^ place->dentry >> 15 ^ place->mnt >> 6) & (KEPT - 1);

	return bpf_map_lookup_elem(&kernel_kept, &i);
}

inlined bool is_same(const struct name *old, const struct name *now)
{
	return old->parent == now->parent && old->hash == now->hash && old->ino == now->ino &&
		old->generation == now->generation && old->type == now->type;
}

inlined bool is_kept(const struct kept *kept, const struct place *place, const struct name *now)
{
	return kept->place.dentry == place->dentry && kept->place.mnt == place->mnt && kept->epoch == kernel_name_epoch &&
		is_same(&kept->name, now);
}

/* The id of the name at the place; 0: not known. */
inlined uint64_t known(const struct place *place)
{
	struct kept *kept = kept_at(place);
	uint32_t epoch = kernel_name_epoch;
	struct name *old, now;

	if (!kept)
		return 0;
	look_at(place, &now);
	if (is_kept(kept, place, &now))
		return kept->name.id;
	old = bpf_map_lookup_elem(&kernel_names, place);
	if (!old || !is_same(old, &now))
		return 0;
	now.id = old->id;
	*kept = (struct kept){ .place = *place, .name = now, .epoch = epoch };
	return now.id;
}

inlined void remember_name(const struct place *place, const struct name *name)
{
	if (bpf_map_update_elem(&kernel_names, place, name, BPF_NOEXIST) == 0)
		return;
	bpf_map_update_elem(&kernel_names, place, name, BPF_ANY);
	__sync_fetch_and_add(&kernel_name_epoch, 1);
}

/* From the root of a mount to the directory that it is mounted on, if it is mounted. */
inlined bool leave_mount(struct place *at)
{
	uint64_t mount = at->mnt - bpf_core_field_offset(struct mount, mnt);
	uint64_t parent;

	if (at->dentry != POINTER(vfsmount, at->mnt, mnt_root))
		return false;
	parent = POINTER(mount, mount, mnt_parent);
	if (!parent || parent == mount)
		return false;
	at->dentry = POINTER(mount, mount, mnt_mountpoint);
	at->mnt = parent + bpf_core_field_offset(struct mount, mnt);
	return true;
}

/* From the root of a mount, or of several on top of each other, to where its name is. */
inlined void to_mountpoint(struct place *at)
{
	for (int i = 0; i < 4; i++)
		if (!leave_mount(at))
			break;
}

/* To the directory; false: there is none. */
inlined bool to_parent(struct place *at)
{
	uint64_t parent;

	to_mountpoint(at);
	parent = POINTER(dentry, at->dentry, d_parent);
	if (parent == at->dentry)
		return false;
	at->dentry = parent;
	return true;
}

static long step_up(uint32_t i, void *context)
{
	struct walk *walk = walk_of_processor();
	struct place at;

	if (!walk)
		return 1;
	at = walk->at;
	walk->parent = known(&at);
	if (walk->parent)
		return 1;
	walk->chain[walk->n & (CHAIN - 1)] = at;
	walk->n++;
	if (!to_parent(&at))
		return 1;
	walk->at = at;
	return 0;
}

/* The device as stat(2) shows it: each subvolume of btrfs has one of its own, and inode numbers of its own. */
inlined uint32_t device_of(uint64_t inode, uint64_t super)
{
	uint64_t root = 0;
	uint32_t dev = 0;

	if (kernel_btrfs.is_known && FIELD(super_block, super, s_magic) == BTRFS_MAGIC) {
		bpf_probe_read_kernel(&root, sizeof(root), (const void *)(inode - kernel_btrfs.inode + kernel_btrfs.root));
		bpf_probe_read_kernel(&dev, sizeof(dev), (const void *)(root + kernel_btrfs.dev));
	}
	return dev ? dev : FIELD(super_block, super, s_dev);
}

inlined void fill_inode(struct wire_name *record, uint64_t inode)
{
	uint64_t super = POINTER(inode, inode, i_sb);

	record->ino = FIELD(inode, inode, i_ino);
	record->size = FIELD(inode, inode, i_size);
	record->dev = device_of(inode, super);
	record->magic = FIELD(super_block, super, s_magic);
	record->generation = FIELD(inode, inode, i_generation);
	record->mode = FIELD(inode, inode, i_mode);
	record->nlink = FIELD(inode, inode, i_nlink);
}

inlined void fill_text(struct wire_name *record, uint64_t dentry)
{
	uint64_t text = POINTER(dentry, dentry, d_name.name);
	uint64_t len = at_most(FIELD(dentry, dentry, d_name.len), NAME_MOST);

	record->len = bpf_probe_read_kernel(record->text, len, (const void *)text) == 0 ? len : 0;
}

inlined uint8_t kind_of(const struct place *place, const struct place *named)
{
	if (POINTER(dentry, named->dentry, d_parent) == named->dentry)
		return named->dentry == POINTER(vfsmount, named->mnt, mnt_root) ? WIRE_TOP : WIRE_APART;
	return FIELD(dentry, place->dentry, d_hash.pprev) ||
			place->dentry == POINTER(vfsmount, place->mnt, mnt_root) ?
		0 : WIRE_UNLINKED;
}

/* Sends the name at a place of which the directory's name is known, and returns its id; 0: there was no room. */
inlined uint64_t send_name(struct walk *walk, const struct place *place)
{
	struct wire_name *record = &walk->record;
	struct place named = *place;
	struct name now;
	uint64_t inode = POINTER(dentry, place->dentry, d_inode);

	look_at(place, &now);
	to_mountpoint(&named);
	head_now(&record->head, WIRE_NAME, 0);
	record->head.flags = kind_of(place, &named);
	record->id = now.id = next_id();
	record->parent = record->head.flags & (WIRE_TOP | WIRE_APART) ? 0 : walk->parent;
	record->mount = FIELD(mount, place->mnt - bpf_core_field_offset(struct mount, mnt), mnt_id);
	if (inode)
		fill_inode(record, inode);
	fill_text(record, named.dentry);
	if (!send_copy(record, offsetof(struct wire_name, text) + at_most(record->len, NAME_MOST)))
		return 0;
	/* what is apart is used once */
	if (!(record->head.flags & WIRE_APART))
		remember_name(place, &now);
	return now.id;
}

static long step_down(uint32_t i, void *context)
{
	struct walk *walk = walk_of_processor();
	struct place place;

	if (!walk || !walk->n)
		return 1;
	walk->n--;
	place = walk->chain[walk->n & (CHAIN - 1)];
	walk->parent = send_name(walk, &place);
	return !walk->parent;
}

/* Sends the unknown names above a place, at most CHAIN of them.  Whether all are known now. */
inlined bool send_chain(struct walk *walk, uint64_t dentry, uint64_t mnt)
{
	uint32_t deep;

	walk->at = (struct place){ dentry, mnt };
	walk->parent = 0;
	walk->n = 0;
	bpf_loop(DEEPEST, step_up, NULL, 0);
	deep = walk->n;
	if (deep)
		bpf_loop(CHAIN, step_down, NULL, 0);
	return deep <= CHAIN || !walk->parent;
}

__noinline uint64_t name_of(uint64_t dentry, uint64_t mnt)
{
	struct place place = { dentry, mnt };
	uint64_t id = dentry ? known(&place) : 0;
	struct walk *walk = walk_of_processor();

	if (id || !dentry || !walk)
		return id;
	for (int i = 0; i < 8; i++)
		if (send_chain(walk, dentry, mnt))
			return walk->parent;
	return 0;
}

#endif
