/* trackway.hpp - the library for C++17: handles that close themselves, events in a range-for, failures as exceptions.
 *
 *	for (const trackway::event &event : trackway::reader("out.fxt"))
 *		std::cout << event.time() << ' ' << event.name() << '\n';
 *
 * Nothing is compiled but this header; get() of each class is the handle that the functions of the C headers take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_TRACKWAY_HPP
#define TRACKWAY_TRACKWAY_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trackway/trackway.h>

namespace trackway {

/* A function of the library has failed: what() is its one line, status() its enum tw_status. */
class error : public std::runtime_error {
      public:
	error(const std::string &text, int status) : std::runtime_error(text), status_(status)
	{
	}
	int status() const noexcept
	{
		return status_;
	}

      private:
	int status_;
};

namespace detail {

inline void check(int status, const char *text = nullptr)
{
	if (status < 0)
		throw error(text && *text ? text : tw_status_text(status), status);
}

template <auto Function> struct closer {
	template <typename Handle> void operator()(Handle *handle) const noexcept
	{
		Function(handle);
	}
};

template <typename Handle, auto Function> using handle = std::unique_ptr<Handle, closer<Function>>;

inline std::string_view text_of(const tw_name *name) noexcept
{
	return {name->text, name->length};
}

/* What an iterator over numbered items of a handle is: at(i) gives a pointer, nullptr past the last. */
template <typename Owner, typename Item> class numbered {
      public:
	class iterator {
	      public:
		using iterator_category = std::input_iterator_tag;
		using value_type = Item;
		using difference_type = std::ptrdiff_t;
		using pointer = const Item *;
		using reference = const Item &;

		iterator() = default;
		explicit iterator(const Owner *owner) : owner_(owner), item_(owner->at(0))
		{
		}
		reference operator*() const noexcept
		{
			return *item_;
		}
		pointer operator->() const noexcept
		{
			return item_;
		}
		iterator &operator++()
		{
			item_ = owner_->at(++number_);
			return *this;
		}
		void operator++(int)
		{
			++*this;
		}
		bool operator==(const iterator &other) const noexcept
		{
			return item_ == other.item_;
		}
		bool operator!=(const iterator &other) const noexcept
		{
			return item_ != other.item_;
		}

	      private:
		const Owner *owner_ = nullptr;
		std::size_t number_ = 0;
		const Item *item_ = nullptr;
	};

	iterator begin() const
	{
		return iterator(static_cast<const Owner *>(this));
	}
	iterator end() const
	{
		return {};
	}
};

} // namespace detail

/* All zero is the default, as in C. */
struct options : tw_read_options {
	options() : tw_read_options{}
	{
	}
};

/* A named value of an event. */
class argument {
      public:
	argument(const tw_argument *own, const tw_dictionary *names) : own_(own), names_(names)
	{
	}
	std::string_view name() const noexcept
	{
		return detail::text_of(tw_dictionary_name(names_, own_->name));
	}
	tw_argument_type type() const noexcept
	{
		return static_cast<tw_argument_type>(own_->type);
	}
	std::int64_t as_int() const noexcept
	{
		return own_->value.i;
	}
	std::uint64_t as_uint() const noexcept
	{
		return own_->value.u;
	}
	double as_double() const noexcept
	{
		return own_->value.d;
	}
	/* Of TW_ARG_TEXT and TW_ARG_BYTES. */
	std::string_view as_text() const noexcept
	{
		return {reinterpret_cast<const char *>(own_->value.bytes), own_->size};
	}
	const tw_argument *get() const noexcept
	{
		return own_;
	}

      private:
	const tw_argument *own_;
	const tw_dictionary *names_;
};

/* An event, which lives until the reader's next one. Names and tracks live as long as the reader. */
class event {
      public:
	event() = default;
	event(const tw_event *own, const tw_argument *arguments, const tw_dictionary *names)
	    : own_(own), arguments_(arguments), names_(names)
	{
	}
	tw_event_kind kind() const noexcept
	{
		return static_cast<tw_event_kind>(own_->kind);
	}
	std::uint64_t time() const noexcept
	{
		return own_->time;
	}
	std::uint64_t duration() const noexcept
	{
		return kind() == TW_SLICE_COMPLETE ? own_->value : 0;
	}
	std::uint64_t value() const noexcept
	{
		return own_->value;
	}
	std::uint64_t id() const noexcept
	{
		return own_->id;
	}
	std::string_view name() const noexcept
	{
		return detail::text_of(tw_dictionary_name(names_, own_->name));
	}
	std::string_view category() const noexcept
	{
		return detail::text_of(tw_dictionary_name(names_, own_->category));
	}
	const tw_track &track() const noexcept
	{
		return *tw_dictionary_track(names_, own_->track);
	}
	std::vector<argument> arguments() const
	{
		std::vector<argument> found;
		for (unsigned i = 0; i < own_->argument_count; i++)
			found.emplace_back(arguments_ + own_->first_argument + i, names_);
		return found;
	}
	const tw_event *get() const noexcept
	{
		return own_;
	}

      private:
	const tw_event *own_ = nullptr;
	const tw_argument *arguments_ = nullptr;
	const tw_dictionary *names_ = nullptr;
};

/* A trace that is read, once. What an on_finding throws comes out of the next event. */
class reader {
      public:
	using finding_function = std::function<void(const tw_finding &)>;

	explicit reader(const std::string &path, const options &how = {}, finding_function on_finding = {})
	    : findings_(new findings{std::move(on_finding), {}})
	{
		options own = how;
		if (findings_->function) {
			own.on_finding = take_finding;
			own.finding_context = findings_.get();
		}
		tw_reader *made = nullptr;
		const int status = tw_open(&made, path.c_str(), &own);
		handle_.reset(made);
		detail::check(status, made ? tw_reader_error(made) : nullptr);
		rethrow();
	}

	/* Events, each valid until the iterator moves. */
	class iterator {
	      public:
		using iterator_category = std::input_iterator_tag;
		using value_type = event;
		using difference_type = std::ptrdiff_t;
		using pointer = const event *;
		using reference = const event &;

		iterator() = default;
		explicit iterator(reader *from) : from_(from)
		{
			settle();
		}
		reference operator*() const noexcept
		{
			return event_;
		}
		pointer operator->() const noexcept
		{
			return &event_;
		}
		iterator &operator++()
		{
			from_->next_++;
			settle();
			return *this;
		}
		void operator++(int)
		{
			++*this;
		}
		bool operator==(const iterator &other) const noexcept
		{
			return from_ == other.from_;
		}
		bool operator!=(const iterator &other) const noexcept
		{
			return from_ != other.from_;
		}

	      private:
		void settle()
		{
			if (!from_->fill()) {
				from_ = nullptr;
				return;
			}
			event_ =
			    event(from_->batch_.events + from_->next_, from_->batch_.arguments, from_->dictionary());
		}
		class reader *from_ = nullptr;
		event event_;
	};

	iterator begin()
	{
		return iterator(this);
	}
	iterator end()
	{
		return {};
	}

	const tw_dictionary *dictionary() const noexcept
	{
		return tw_reader_dictionary(get());
	}
	const tw_clock &clock() const noexcept
	{
		return *tw_reader_clock(get());
	}
	std::string_view format() const noexcept
	{
		return tw_reader_format(get());
	}
	std::string_view name(std::uint32_t number) const noexcept
	{
		return detail::text_of(tw_dictionary_name(dictionary(), number));
	}
	/* What the last failure of a function that took get() was. */
	const char *error_text() const noexcept
	{
		return tw_reader_error(get());
	}
	tw_reader *get() const noexcept
	{
		return handle_.get();
	}
	/* Throws what an on_finding has thrown. */
	void rethrow()
	{
		if (findings_->thrown)
			std::rethrow_exception(std::exchange(findings_->thrown, nullptr));
	}

      private:
	struct findings {
		finding_function function;
		std::exception_ptr thrown;
	};

	static void take_finding(void *context, const tw_finding *finding)
	{
		findings *own = static_cast<findings *>(context);
		try {
			own->function(*finding);
		} catch (...) {
			own->thrown = std::current_exception();
		}
	}

	/* Whether there is an event at next_, in a new batch if need be. */
	bool fill()
	{
		while (next_ == batch_.count) {
			next_ = 0;
			batch_ = {};
			const int status = tw_read(get(), &batch_);
			rethrow();
			detail::check(status, tw_reader_error(get()));
			if (status == 0)
				return false;
		}
		return true;
	}

	std::unique_ptr<findings> findings_; /* outlives the handle, which calls it */
	detail::handle<tw_reader, tw_close> handle_;
	tw_batch batch_ = {};
	std::size_t next_ = 0;
};

/* A profile: rows of struct tw_profile_row in a range-for. */
class profile : public detail::numbered<profile, struct tw_profile_row> {
      public:
	explicit profile(const tw_profile_options &how = {})
	{
		tw_profile *made = nullptr;
		detail::check(tw_profile_new(&made, &how));
		handle_.reset(made);
	}
	/* Takes all of a trace that has not been read from. */
	void add(reader &trace)
	{
		const int status = tw_profile_add(get(), trace.get());
		trace.rethrow();
		detail::check(status, trace.error_text());
	}
	const struct tw_profile_row *at(std::size_t i) const noexcept
	{
		return ::tw_profile_row(get(), i);
	}
	tw_profile *get() const noexcept
	{
		return handle_.get();
	}

      private:
	detail::handle<tw_profile, tw_profile_free> handle_;
};

/* A tree of calls, for flame graphs. */
class calltree {
      public:
	explicit calltree(const tw_calltree_options &how = {})
	{
		tw_calltree *made = nullptr;
		detail::check(tw_calltree_new(&made, &how));
		handle_.reset(made);
	}
	void add(reader &trace)
	{
		const int status = tw_calltree_add(get(), trace.get());
		trace.rethrow();
		detail::check(status, trace.error_text());
	}
	void write_flame(const std::string &path, const tw_flame_options &how = {})
	{
		detail::check(tw_flame_write(get(), path.c_str(), &how));
	}
	tw_calltree *get() const noexcept
	{
		return handle_.get();
	}

      private:
	detail::handle<tw_calltree, tw_calltree_free> handle_;
};

/* A trace that is written: what is not finished is removed. */
class writer {
      public:
	writer(const std::string &path, const std::string &format, const tw_write_options &how = {})
	{
		tw_writer *made = nullptr;
		const int status = tw_create(&made, path.c_str(), format.c_str(), &how);
		handle_.reset(made);
		detail::check(status, made ? tw_writer_error(made) : nullptr);
	}
	void write(const tw_reader *names, const tw_batch &batch)
	{
		detail::check(tw_write(get(), names, &batch), tw_writer_error(get()));
	}
	void finish()
	{
		detail::check(tw_finish(get()), tw_writer_error(get()));
	}
	std::vector<tw_loss> losses() const
	{
		std::vector<tw_loss> found;
		for (const tw_loss *loss; (loss = tw_writer_loss(get(), found.size()));)
			found.push_back(*loss);
		return found;
	}
	tw_writer *get() const noexcept
	{
		return handle_.get();
	}

      private:
	detail::handle<tw_writer, tw_discard> handle_;
};

/* What a query answers: columns of struct tw_sql_column in a range-for. */
class sql_result : public detail::numbered<sql_result, struct tw_sql_column> {
      public:
	explicit sql_result(tw_sql_result *own) : handle_(own)
	{
	}
	std::size_t rows() const noexcept
	{
		return tw_sql_rows(get());
	}
	const struct tw_sql_column *at(std::size_t i) const noexcept
	{
		return ::tw_sql_column(get(), i);
	}
	bool is_null(std::size_t column, std::size_t row) const noexcept
	{
		const struct tw_sql_column *own = at(column);
		return own->type == TW_SQL_NULL || (own->valid && !(own->valid[row / 8] >> row % 8 & 1));
	}
	std::int64_t as_int(std::size_t column, std::size_t row) const noexcept
	{
		return at(column)->ints[row];
	}
	double as_double(std::size_t column, std::size_t row) const noexcept
	{
		return at(column)->reals[row];
	}
	std::string_view as_text(std::size_t column, std::size_t row) const noexcept
	{
		const struct tw_sql_column *own = at(column);
		const std::int64_t from = own->offsets[own->codes[row]];
		return {own->bytes + from, static_cast<std::size_t>(own->offsets[own->codes[row] + 1] - from)};
	}
	tw_sql_result *get() const noexcept
	{
		return handle_.get();
	}

      private:
	detail::handle<tw_sql_result, tw_sql_result_free> handle_;
};

/* Traces that are asked. */
class sql {
      public:
	explicit sql(const std::vector<std::string> &paths, const options &how = {})
	{
		std::vector<const char *> names;
		for (const std::string &path : paths)
			names.push_back(path.c_str());
		tw_sql *made = nullptr;
		const int status = tw_sql_open(&made, names.data(), names.size(), &how);
		handle_.reset(made);
		detail::check(status, made ? tw_sql_error(made) : nullptr);
	}
	sql_result query(const std::string &text, const std::vector<tw_sql_parameter> &parameters = {})
	{
		tw_sql_result *made = nullptr;
		const int status = tw_sql_query(get(), text.c_str(), parameters.data(), parameters.size(), &made);
		detail::check(status, tw_sql_error(get()));
		return sql_result(made);
	}
	tw_sql *get() const noexcept
	{
		return handle_.get();
	}

      private:
	detail::handle<tw_sql, tw_sql_close> handle_;
};

} // namespace trackway

#endif
