/* SPDX-License-Identifier: MIT */

/*
 * taskstats: the bytes of a datagram, laid out here by the offsets of the kernel's headers, come
 * out as records with what each version of them holds; whatever else they are, nothing is read
 * behind their end.  The kernel's own are those of test_exit_records.c.
 */

#include "tests/unit/test.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <sys/acct.h>
#include <sys/mman.h>

#include "procmon/taskstats.h"
#include "tests/unit/taskstats_bytes.h"

/* ---- versions ---- */

static void each_version_has_its_offsets(TEST_UNUSED void **state)
{
	int compared = 0;

	for (size_t i = 0; i < VERSIONS; i++) {
		struct taskstats_record record;
		char stats[SIZE_MAX_STATS];

		fill(stats, &versions[i]);
		record = parse_stats(stats, versions[i].size);
		compared += compare_figures(&record.figures, ALL);
		assert_int_equal(record.version, versions[i].version);
		assert_false(record.group);
		assert_int_equal(record.tid, 201);
		assert_int_equal(record.tgid, versions[i].version >= 12 ? 200 : 0);
		assert_int_equal(record.status, versions[i].version >= 12 ? -1 : 0x300);
		assert_int_equal(record.flags, 0x21);
		assert_true(record.last);
		assert_int_equal(record.uid, 1004);
		assert_int_equal(record.gid, 1005);
		assert_int_equal(record.ppid, 1006);
		assert_int_equal(record.elapsed_ns, 1007000);
		assert_int_equal(record.begin_s,
			versions[i].version >= 10 ? 5000000000 : 1700000000);
		assert_string_equal(record.comm, "a \xff name");
	}
	print_message("# %d figures of %d versions\n", compared, (int)VERSIONS);
	assert_int_equal(compared, EXPECTED * VERSIONS);
}

#define OFFSET(field, member) \
	assert_int_equal(version->at[field], offsetof(struct taskstats, member))

/* The header that this was built with has one of them, or is newer and has grown at the end. */
static void offsets_are_those_of_the_header(TEST_UNUSED void **state)
{
	const struct version *version =
		version_of(TASKSTATS_VERSION > 17 ? 99 : TASKSTATS_VERSION);

	if (TASKSTATS_VERSION <= 17)
		assert_int_equal(version->size, sizeof(struct taskstats));
	OFFSET(EXITCODE, ac_exitcode);
	OFFSET(FLAG, ac_flag);
	OFFSET(CPU_COUNT, cpu_count);
	OFFSET(CPU_DELAY, cpu_delay_total);
	OFFSET(BLKIO, blkio_delay_total);
	OFFSET(SWAPIN, swapin_delay_total);
	OFFSET(VIRTUAL, cpu_run_virtual_total);
	OFFSET(COMM, ac_comm);
	OFFSET(UID, ac_uid);
	OFFSET(GID, ac_gid);
	OFFSET(PPID, ac_ppid);
	OFFSET(BTIME, ac_btime);
	OFFSET(ELAPSED, ac_etime);
	OFFSET(UTIME, ac_utime);
	OFFSET(STIME, ac_stime);
	OFFSET(MINFLT, ac_minflt);
	OFFSET(MAJFLT, ac_majflt);
	OFFSET(RSS, hiwater_rss);
	OFFSET(VM, hiwater_vm);
	OFFSET(RBYTES, read_bytes);
	OFFSET(WBYTES, write_bytes);
	OFFSET(NVCSW, nvcsw);
	OFFSET(NIVCSW, nivcsw);
	OFFSET(FREEPAGES, freepages_delay_total);
#if TASKSTATS_VERSION >= 10
	OFFSET(BTIME64, ac_btime64);
#endif
#if TASKSTATS_VERSION >= 12
	OFFSET(TGID, ac_tgid);
#endif
}

/* Release candidates of 6.14 had the layout of 15 under the number 14. */
static void fourteen_of_the_length_of_fifteen_is_one(TEST_UNUSED void **state)
{
	const struct version *version = version_of(15);
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];

	fill(stats, version);
	put16(stats, 14);
	record = parse_stats(stats, version->size);
	compare_figures(&record.figures, ALL);
	assert_int_equal(record.tgid, 200);
}

static void older_than_eight_is_refused(TEST_UNUSED void **state)
{
	for (int number = 0; number < 8; number++) {
		struct datagram datagram = { 0 };
		struct taskstats_input input;
		char stats[SIZE_MAX_STATS];

		fill(stats, version_of(8));
		put16(stats, number);
		put_thread(&datagram, 201, stats, 328);
		input = input_of(&datagram);
		expect_refusal(&input);
		expect_end(&input);
	}
}

/* ---- what is known ---- */

static void delays_are_known_only_where_counted(TEST_UNUSED void **state)
{
	struct datagram datagram = { 0 };
	struct taskstats_input input;
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];

	fill(stats, version_of(16));
	put_thread(&datagram, 201, stats, 560);
	input = input_of(&datagram);
	input.delays = false;
	assert_int_equal(taskstats_parse(&input, &record), 1);
	compare_figures(&record.figures, ALL & ~DELAYS);
	input = input_of(&datagram);
	input.storage = false;
	assert_int_equal(taskstats_parse(&input, &record), 1);
	compare_figures(&record.figures, ALL & ~(BIT(READ_BYTES) | BIT(WRITE_BYTES)));
}

/* The kernel has its scheduler's figures switched off: what is left are the ticks. */
static void without_the_scheduler_ticks_are_left(TEST_UNUSED void **state)
{
	struct taskstats_record record = parse_changed(10, CPU_COUNT, 0);

	assert_int_equal(record.figures.known, ALL & ~SCHEDULED);
	assert_int_equal(record.figures.value[FIGURE_UTIME], 300000);
	assert_int_equal(record.figures.value[FIGURE_STIME], 100000);
}

static void time_that_was_not_measured_is_not_0(TEST_UNUSED void **state)
{
	const struct version *version = version_of(16);
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];

	fill(stats, version);
	put_field(stats, version, VIRTUAL, 0);
	put_field(stats, version, UTIME, 0);
	put_field(stats, version, STIME, 0);
	record = parse_stats(stats, version->size);
	compare_figures(&record.figures, ALL & ~(BIT(CPU) | BIT(UTIME) | BIT(STIME)));
}

/* As wait4(2) divides them: utime and stime in us, of 1,000,000 ns. */
static void time_is_divided_as_the_ticks_are(TEST_UNUSED void **state)
{
	static const struct { uint64_t utime, stime; int64_t want; } divisions[] = {
		{ 0, 0, 0 }, { 4000, 0, 0 }, { 0, 4000, 1000000 }, { 4000, 4000, 500000 },
		{ 1, UINT32_MAX, 999999 },
	};

	for (size_t i = 0; i < sizeof(divisions) / sizeof(divisions[0]); i++) {
		const struct version *version = version_of(16);
		struct taskstats_record record;
		char stats[SIZE_MAX_STATS];

		fill(stats, version);
		put_field(stats, version, UTIME, divisions[i].utime);
		put_field(stats, version, STIME, divisions[i].stime);
		record = parse_stats(stats, version->size);
		assert_int_equal(record.figures.known, ALL);
		assert_int_equal(record.figures.value[FIGURE_STIME], divisions[i].want);
		assert_int_equal(record.figures.value[FIGURE_UTIME], 1000000 - divisions[i].want);
	}
}

/* The kernel's own threads have no memory; others have some. */
static void memory_of_0_is_not_known(TEST_UNUSED void **state)
{
	struct taskstats_record record = parse_changed(16, VM, 0);

	compare_figures(&record.figures, ALL & ~BIT(VMPEAK));
	record = parse_changed(15, RSS, 0);
	compare_figures(&record.figures, ALL & ~BIT(RSSPEAK));
}

static void figures_that_are_none_are_not_known(TEST_UNUSED void **state)
{
	for (size_t i = 0; i < EXPECTED; i++) {
		struct taskstats_record record = parse_changed(16, expected[i].field, UINT64_MAX);

		assert_false(figures_has(&record.figures, expected[i].figure));
	}
	/* A number, but none in bytes or ns */
	assert_false(parse_changed(16, VM, INT64_MAX / 2).figures.known & BIT(VMPEAK));
	assert_int_equal(parse_changed(16, ELAPSED, INT64_MAX / 2).elapsed_ns, -1);
}

static void zero_is_a_count(TEST_UNUSED void **state)
{
	static const enum field fields[] = { MINFLT, MAJFLT, NVCSW, NIVCSW, RBYTES, WBYTES, BLKIO,
		SWAPIN, FREEPAGES, CPU_DELAY };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		assert_int_equal(parse_changed(16, fields[i], 0).figures.known, ALL);
}

static void status_is_of_the_first_thread(TEST_UNUSED void **state)
{
	assert_int_equal(parse_changed(16, TGID, 201).status, 0x300);
	assert_int_equal(parse_changed(16, TGID, 200).status, -1);
	assert_int_equal(parse_changed(11, EXITCODE, 9).status, 9);
	assert_false(parse_changed(16, FLAG, AFORK).last);
	assert_int_equal(parse_changed(16, FLAG, AFORK).flags, AFORK);
}

static void name_ends_where_the_struct_does(TEST_UNUSED void **state)
{
	const struct version *version = version_of(16);
	char stats[SIZE_MAX_STATS];

	fill(stats, version);
	memset(stats + version->at[COMM], 'x', 32);
	assert_int_equal(strlen(parse_stats(stats, version->size).comm), 32);
}

/* ---- the record of the group ---- */

/* As the kernel fills it: nothing but zeros and what it sums. */
static void fill_group(char stats[SIZE_MAX_STATS], const struct version *version, int number)
{
	static const enum field summed[] = { CPU_COUNT, CPU_DELAY, BLKIO, SWAPIN, VIRTUAL,
		FREEPAGES, UTIME, STIME, NVCSW, NIVCSW, ELAPSED };

	memset(stats, 0, SIZE_MAX_STATS);
	put16(stats, number);
	for (size_t i = 0; i < sizeof(summed) / sizeof(summed[0]); i++)
		put_field(stats, version, summed[i], sample[summed[i]]);
}

static void check_group(const struct taskstats_record *record, int version)
{
	assert_true(record->group);
	assert_int_equal(record->version, version);
	assert_int_equal(record->tid, 0);
	assert_int_equal(record->tgid, 200);
	assert_int_equal(record->status, -1);
	assert_int_equal(record->uid, (uid_t)-1);
	assert_int_equal(record->elapsed_ns, -1);
	assert_int_equal(record->begin_s, -1);
}

/* Before or behind that of the thread. */
static void put_both(struct datagram *datagram, const struct version *version, int number,
	bool group_first)
{
	char thread[SIZE_MAX_STATS], group[SIZE_MAX_STATS];
	size_t at = open_message(datagram, FAMILY, NEW);

	fill(thread, version);
	fill_group(group, version, number);
	if (group_first)
		put_aggregate(datagram, true, 200, group, version->size);
	put_aggregate(datagram, false, 201, thread, version->size);
	if (!group_first)
		put_aggregate(datagram, true, 200, group, version->size);
	close_message(datagram, at);
}

/* Its own version is 0, and only the scheduler's figures are filled. */
static void group_goes_by_its_threads_version(TEST_UNUSED void **state)
{
	int compared = 0;

	for (size_t i = 0; i < VERSIONS; i++)
		for (int first = 0; first < 2; first++) {
			struct datagram datagram = { 0 };
			struct taskstats_input input;
			struct taskstats_record records[2];

			put_both(&datagram, &versions[i], 0, first);
			input = input_of(&datagram);
			assert_int_equal(taskstats_parse(&input, &records[0]), 1);
			assert_int_equal(taskstats_parse(&input, &records[1]), 1);
			expect_end(&input);
			compare_figures(&records[first].figures, ALL);
			compared += compare_figures(&records[!first].figures, SCHEDULED);
			check_group(&records[!first], versions[i].version);
		}
	assert_int_equal(compared, 2 * 5 * VERSIONS);
}

static void group_with_a_version_has_more(TEST_UNUSED void **state)
{
	struct datagram datagram = { 0 };
	struct taskstats_input input;
	struct taskstats_record record;

	put_both(&datagram, version_of(16), 16, true);
	input = input_of(&datagram);
	assert_int_equal(taskstats_parse(&input, &record), 1);
	compare_figures(&record.figures, SCHEDULED | SUMMED);
	check_group(&record, 16);
}

static void group_without_any_version_is_refused(TEST_UNUSED void **state)
{
	struct datagram datagram = { 0 };
	struct taskstats_input input;
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];
	size_t at;

	/* That of another message does not count */
	fill(stats, version_of(16));
	put_thread(&datagram, 1, stats, 560);
	fill_group(stats, version_of(16), 0);
	at = open_message(&datagram, FAMILY, NEW);
	put_aggregate(&datagram, true, 200, stats, 560);
	close_message(&datagram, at);
	input = input_of(&datagram);
	assert_int_equal(taskstats_parse(&input, &record), 1);
	expect_refusal(&input);
	expect_end(&input);
}

/* ---- messages and attributes ---- */

static void several_messages_come_out_one_by_one(TEST_UNUSED void **state)
{
	struct datagram datagram = { 0 };
	struct taskstats_input input;
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];

	fill(stats, version_of(16));
	put_thread(&datagram, 1, stats, 560);
	put_both(&datagram, version_of(15), 0, false);
	fill(stats, version_of(8));
	put_thread(&datagram, 2, stats, 328);
	input = input_of(&datagram);
	expect_thread(&input, 1);
	expect_thread(&input, 201);
	assert_int_equal(taskstats_parse(&input, &record), 1);
	check_group(&record, 15);
	expect_thread(&input, 2);
	expect_end(&input);
}

static void attributes_come_in_any_order(TEST_UNUSED void **state)
{
	const uint32_t tid = 201;
	struct datagram datagram = { 0 };
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];
	size_t message, aggregate;

	fill(stats, version_of(16));
	message = open_message(&datagram, FAMILY, NEW);
	put_attribute(&datagram, T_NULL, "", 0);
	put_attribute(&datagram, T_PID, &tid, sizeof(tid)); /* of nothing */
	aggregate = open_attribute(&datagram, T_AGGR_PID | NESTED);
	put_attribute(&datagram, 77, "new", 3);
	put_attribute(&datagram, T_STATS, stats, 560);
	put_attribute(&datagram, T_TGID, "other", 5);
	put_attribute(&datagram, T_NULL, "", 0); /* what aligns it, on some machines */
	put_attribute(&datagram, T_PID, &tid, sizeof(tid));
	close_attribute(&datagram, aggregate);
	put_attribute(&datagram, 78, "newer", 5);
	close_message(&datagram, message);
	record = parse_one(&datagram);
	assert_int_equal(record.tid, 201);
	compare_figures(&record.figures, ALL);
}

static void nothing_of_interest_is_no_record(TEST_UNUSED void **state)
{
	static const struct { uint16_t type; uint8_t command; } others[] = {
		{ CTRL, NEW },	/* other families */
		{ 2, NEW },	/* answers and errors of netlink's own */
		{ FAMILY, 1 },	/* other commands */
		{ FAMILY, 5 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct datagram datagram = { 0 };
		char stats[SIZE_MAX_STATS];
		size_t at = open_message(&datagram, others[i].type, others[i].command);

		fill(stats, version_of(16));
		put_aggregate(&datagram, false, 1, stats, 560);
		close_message(&datagram, at);
		put_thread(&datagram, 201, stats, 560);
		assert_int_equal(parse_one(&datagram).tid, 201);
	}
}

/* The second record of a message lacks a part: it is refused. The record before it and the message behind it are not
 * lost. */
static void check_lack(bool group, bool has_stats, uint16_t id_type, size_t id_size)
{
	const uint32_t id = 201;
	struct datagram datagram = { 0 };
	struct taskstats_input input;
	char stats[SIZE_MAX_STATS];
	size_t message = open_message(&datagram, FAMILY, NEW);
	size_t aggregate;

	fill(stats, version_of(16));
	put_aggregate(&datagram, false, 6, stats, 560);
	aggregate = open_attribute(&datagram, group ? T_AGGR_TGID : T_AGGR_PID);
	if (id_type)
		put_attribute(&datagram, id_type, &id, id_size);
	if (has_stats)
		put_attribute(&datagram, T_STATS, stats, 560);
	close_attribute(&datagram, aggregate);
	close_message(&datagram, message);
	put_thread(&datagram, 7, stats, 560);
	input = input_of(&datagram);
	expect_thread(&input, 6);
	expect_refusal(&input);
	expect_thread(&input, 7);
}

static void records_without_a_part_are_refused(TEST_UNUSED void **state)
{
	for (int group = 0; group < 2; group++) {
		uint16_t own = group ? T_TGID : T_PID, other = group ? T_PID : T_TGID;

		check_lack(group, true, 0, 0);
		check_lack(group, true, other, 4);
		check_lack(group, true, own, 3);
		check_lack(group, false, own, 4);
		check_lack(group, false, 0, 0);
	}
}

/* ---- ends ---- */

/* Bytes just before a page that is not there, as near as their alignment lets them be. */
struct abyss {
	char *map;
	size_t size;
	size_t edge;
};

static struct abyss abyss_open(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct abyss abyss = { .size = page + 65536, .edge = 65536 }; /* no machine's page is larger */

	abyss.map = mmap(NULL, abyss.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		0);
	assert_true(abyss.map != MAP_FAILED);
	assert_int_equal(mprotect(abyss.map + abyss.edge, page, PROT_NONE), 0);
	return abyss;
}

static char *abyss_put(const struct abyss *abyss, const char *bytes, size_t len)
{
	return memcpy(abyss->map + abyss->edge - (len + 3) / 4 * 4, bytes, len);
}

static void abyss_close(const struct abyss *abyss)
{
	munmap(abyss->map, abyss->size);
}

/* Of the version, when the struct ends after len bytes. */
static uint32_t figures_within(const struct version *version, size_t len)
{
	uint32_t known = 0;

	for (size_t i = 0; i < EXPECTED; i++)
		if (version->at[expected[i].field] + 8 <= len)
			known |= 1U << expected[i].figure;
	/* Not without the proof that anything was counted, and the two only together */
	if (version->at[CPU_COUNT] + 8 > len)
		known &= ~SCHEDULED;
	if (!(known & BIT(STIME)))
		known &= ~BIT(UTIME);
	return known;
}

static void check_cut(const struct abyss *abyss, const struct version *version, size_t len)
{
	struct datagram datagram = { 0 };
	struct taskstats_input input;
	struct taskstats_record record;
	char stats[SIZE_MAX_STATS];

	fill(stats, version);
	put_thread(&datagram, 201, stats, len);
	input = input_of(&datagram);
	input.messages = abyss_put(abyss, datagram.bytes, datagram.len);
	if (len < 2) {
		expect_refusal(&input);
		return;
	}
	assert_int_equal(taskstats_parse(&input, &record), 1);
	compare_figures(&record.figures, figures_within(version, len));
	assert_int_equal(record.uid, len < version->at[UID] + 4 ? (uid_t)-1 : 1004);
	assert_int_equal(record.comm[0], len < version->at[COMM] + 32 ? '\0' : 'a');
	assert_int_equal(record.elapsed_ns, len < version->at[ELAPSED] + 8 ? -1 : 1007000);
	if (version->at[TGID] && len < version->at[TGID] + 4)
		assert_int_equal(record.tgid, 0);
}

static void cut_struct_has_what_it_holds(TEST_UNUSED void **state)
{
	struct abyss abyss = abyss_open();
	int checked = 0;

	for (size_t i = 0; i < VERSIONS; i++) {
		size_t len = versions[i].size;

		for (; len-- > 0; checked++)
			check_cut(&abyss, &versions[i], len);
	}
	abyss_close(&abyss);
	print_message("# %d lengths\n", checked);
	assert_true(checked > 4000);
}

static void cut_datagram_is_refused(TEST_UNUSED void **state)
{
	struct abyss abyss = abyss_open();
	struct datagram datagram = { 0 };

	put_both(&datagram, version_of(16), 0, false);
	for (size_t len = 1; len < datagram.len; len++) {
		struct taskstats_input input = input_of(&datagram);
		struct taskstats_record record;

		input.messages = abyss_put(&abyss, datagram.bytes, len);
		input.messages_left = len;
		expect_refusal(&input);
		expect_end(&input);
		if (len < 16)
			continue;
		/* The same, but with the cut length in the message: whole records come out */
		put32(abyss_put(&abyss, datagram.bytes, len), len);
		input = input_of(&datagram);
		input.messages = abyss.map + abyss.edge - (len + 3) / 4 * 4;
		input.messages_left = len;
		for (int r = 1, n = 0; r != 0; n++) {
			r = taskstats_parse(&input, &record);
			assert_true(r == 1 || r == 0 || r == -EBADMSG);
			assert_true(n < 3);
		}
	}
	abyss_close(&abyss);
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Most in the heads, where it hurts. */
static void mutate(char *bytes, size_t len, uint32_t *seed)
{
	for (uint32_t k = random_next(seed) % 5 + 1; k > 0; k--) {
		size_t range = random_next(seed) % 4 ? 60 : len;

		bytes[random_next(seed) % range] = random_next(seed) % 3 ? random_next(seed)
									  : random_next(seed) % 64;
	}
}

static void any_bytes_are_survived(TEST_UNUSED void **state)
{
	struct abyss abyss = abyss_open();
	struct datagram datagram = { 0 };
	uint32_t seed = 1;
	int records = 0, refused = 0;
	char stats[SIZE_MAX_STATS];

	fill(stats, version_of(16));
	put_both(&datagram, version_of(16), 0, false);
	put_thread(&datagram, 5, stats, 560);
	for (int i = 0; i < 100000; i++) {
		struct taskstats_input input = input_of(&datagram);
		char *copy = abyss_put(&abyss, datagram.bytes, datagram.len);
		struct taskstats_record record;
		int r, n = 0;

		mutate(copy, datagram.len, &seed);
		input.messages = copy;
		while ((r = taskstats_parse(&input, &record)) != 0) {
			records += r > 0;
			refused += r < 0;
			assert_true(r == 1 || r == -EBADMSG);
			assert_true(++n < 1000);
		}
	}
	abyss_close(&abyss);
	print_message("# %d records, %d refused\n", records, refused);
	assert_true(records > 10000 && refused > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_has_its_offsets),
		cmocka_unit_test(offsets_are_those_of_the_header),
		cmocka_unit_test(fourteen_of_the_length_of_fifteen_is_one),
		cmocka_unit_test(older_than_eight_is_refused),
		cmocka_unit_test(delays_are_known_only_where_counted),
		cmocka_unit_test(without_the_scheduler_ticks_are_left),
		cmocka_unit_test(time_that_was_not_measured_is_not_0),
		cmocka_unit_test(time_is_divided_as_the_ticks_are),
		cmocka_unit_test(memory_of_0_is_not_known),
		cmocka_unit_test(figures_that_are_none_are_not_known),
		cmocka_unit_test(zero_is_a_count),
		cmocka_unit_test(status_is_of_the_first_thread),
		cmocka_unit_test(name_ends_where_the_struct_does),
		cmocka_unit_test(group_goes_by_its_threads_version),
		cmocka_unit_test(group_with_a_version_has_more),
		cmocka_unit_test(group_without_any_version_is_refused),
		cmocka_unit_test(several_messages_come_out_one_by_one),
		cmocka_unit_test(attributes_come_in_any_order),
		cmocka_unit_test(nothing_of_interest_is_no_record),
		cmocka_unit_test(records_without_a_part_are_refused),
		cmocka_unit_test(cut_struct_has_what_it_holds),
		cmocka_unit_test(cut_datagram_is_refused),
		cmocka_unit_test(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
