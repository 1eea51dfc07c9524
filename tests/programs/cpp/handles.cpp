/* handles.cpp - every class of trackway.hpp, with what each does where it fails. Prints TAP.
 *
 * usage: handles LOG FOLDER      LOG is tests/data/xray/v5.xray, of whose calls llvm-xray tells 21 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include <trackway/trackway.hpp>

namespace {

int number, failed;

void check(bool good, const char *name)
{
	failed += !good;
	std::cout << (good ? "ok " : "not ok ") << ++number << " - " << name << std::endl;
}

template <typename Call> int status_of(Call call)
{
	try {
		call();
	} catch (const trackway::error &error) {
		return *error.what() ? error.status() : 1;
	}
	return 0;
}

std::string copy_of(const std::string &path, const std::string &folder, std::size_t damaged)
{
	std::ifstream in(path, std::ios::binary);
	std::stringstream bytes;
	bytes << in.rdbuf();
	std::string text = bytes.str();
	text.replace(damaged, 40, 40, '\xff');
	std::ofstream(folder + "/damaged.xray", std::ios::binary) << text;
	return folder + "/damaged.xray";
}

void reading(const std::string &log)
{
	trackway::options whole;
	whole.complete_slices = whole.from_start = true;
	trackway::reader reader(log, whole);
	std::map<std::string, int> calls;
	std::uint64_t least = UINT64_MAX, arguments = 0;
	for (const trackway::event &event : reader)
		if (event.kind() == TW_SLICE_COMPLETE) {
			calls[std::string(event.name())]++;
			least = std::min(least, event.time());
			for (const trackway::argument &argument : event.arguments())
				arguments += argument.name() == "arg0";
		}
	int all = 0;
	for (const auto &call : calls)
		all += call.second;
	check(all == 21, "21 slices");
	check(least == 0, "times from the start");
	check(arguments > 0, "arguments");
	check(reader.format() == "xray-fdr", "the format");
	check(reader.begin() == reader.end(), "nothing more at the end");
	trackway::reader moved = std::move(reader);
	check(moved.clock().end_ns > moved.clock().start_ns, "a reader that was moved");
}

void failing(const std::string &log, const std::string &folder)
{
	check(status_of([] { trackway::reader("/none/such"); }) == TW_ERR_SYSTEM, "a file that is not there");
	check(status_of([] { trackway::writer("/none/such/x.fxt", "fxt"); }) == TW_ERR_SYSTEM,
	      "a folder that is not there");
	check(status_of([] { trackway::writer("x", "none"); }) == TW_ERR_FORMAT, "no such format");
	check(status_of([] { trackway::sql({"/none/such"}); }) == TW_ERR_SYSTEM, "the same for SQL");
	const std::string damaged = copy_of(log, folder, 300);
	int found = 0;
	trackway::reader reader(damaged, {}, [&](const tw_finding &finding) { found += finding.severity == TW_ERROR; });
	int events = 0;
	for (const trackway::event &event : reader)
		events += event.kind() != TW_LOST;
	check(found > 0 && events > 10, "findings, and the rest");
	struct mine {};
	bool thrown = false;
	try {
		trackway::reader throwing(damaged, {}, [](const tw_finding &) { throw mine(); });
		for (const trackway::event &event : throwing)
			(void)event;
	} catch (const mine &) {
		thrown = true;
	}
	check(thrown, "what on_finding throws");
}

void analyses(const std::string &log, const std::string &folder)
{
	trackway::profile profile;
	trackway::reader reader(log);
	profile.add(reader);
	std::uint64_t count = 0;
	for (const struct tw_profile_row &row : profile)
		count += row.count;
	check(count == 21, "21 calls in a profile");
	check(status_of([&] { profile.add(reader); }) == TW_ERR_VALUE, "a reader is read once");
	trackway::calltree tree;
	trackway::reader again(log);
	tree.add(again);
	tree.write_flame(folder + "/flame.svg");
	check(std::ifstream(folder + "/flame.svg").good(), "a flame graph");
	trackway::sql sql({log});
	const trackway::sql_result result =
	    sql.query("select name, count(*) n, null from slice group by 1 order by 2 desc");
	std::int64_t sum = 0;
	for (std::size_t row = 0; row < result.rows(); row++)
		sum += result.as_int(1, row);
	check(sum == 21 && result.as_text(0, 0)[0] == '#', "21 rows of SQL");
	check(result.is_null(2, 0) && !result.is_null(1, 0), "NULL");
	std::size_t columns = 0;
	for (const struct tw_sql_column &column : result)
		columns += *column.name != '\0';
	check(columns == 3, "columns");
	check(status_of([&] { sql.query("selec"); }) == TW_ERR_VALUE, "a wrong statement");
}

void writing(const std::string &log, const std::string &folder)
{
	trackway::options time;
	time.order = tw_writer_order("fxt");
	trackway::reader reader(log, time);
	const std::string path = folder + "/out.fxt";
	{
		trackway::writer writer(path, "fxt");
		tw_batch batch;
		while (tw_read(reader.get(), &batch) > 0)
			writer.write(reader.get(), batch);
		writer.finish();
		check(status_of([&] { writer.finish(); }) == TW_ERR_VALUE, "finished twice");
		for (const tw_loss &loss : writer.losses())
			std::cout << "# " << loss.what << '\n';
	}
	check(trackway::sql({path}).query("select count(*) from slice").as_int(0, 0) == 21, "21 slices were written");
	{
		trackway::writer writer(folder + "/left.fxt", "fxt");
	}
	check(!std::ifstream(folder + "/left.fxt").good(), "what is not finished is not there");
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	try {
		std::cout << "TAP version 13\n";
		reading(argv[1]);
		failing(argv[1], argv[2]);
		analyses(argv[1], argv[2]);
		writing(argv[1], argv[2]);
		std::cout << "1.." << number << '\n';
	} catch (const std::exception &error) {
		std::cout << "Bail out! " << error.what() << '\n';
		return 1;
	}
	return failed > 0;
}
