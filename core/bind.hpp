// What the bindings share: texts in, arrays out, and the GIL released in between.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "lines.hpp"
#include "store.hpp"

namespace supratok {

// A view of a str's UTF-8, which the str keeps. A lone surrogate has none: Python's error goes up.
inline std::string_view view(nanobind::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nanobind::python_error();
  return {data, static_cast<size_t>(size)};
}

// What `get` finds at the first call, kept as long as the process lives. (A static that a function
// makes would lock it while Python runs, and another thread may wait there with the GIL.)
template <class Get>
nanobind::handle kept(PyObject*& place, Get get) {
  if (!place) place = get();
  if (!place) throw nanobind::python_error();
  return place;
}

// An array of so many numbers of type T, with anything in it.
template <class T>
nanobind::object new_numpy(size_t size) {
  static PyObject *numpy = nullptr, *empty = nullptr, *type = nullptr;
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  const std::string name = kind + std::to_string(sizeof(T));
  kept(numpy, [] { return PyImport_ImportModule("numpy"); });
  kept(empty, [] { return PyObject_GetAttrString(numpy, "empty"); });
  kept(type, [&] { return PyObject_CallMethod(numpy, "dtype", "s", name.c_str()); });
  const auto count = nanobind::steal(PyLong_FromSize_t(size));
  if (!count.is_valid()) throw nanobind::python_error();
  auto array = nanobind::steal(PyObject_CallFunctionObjArgs(empty, count.ptr(), type, nullptr));
  if (!array.is_valid()) throw nanobind::python_error();
  return array;
}

// A NumPy array of these numbers as T. (An nb::ndarray aborts where memory runs out.)
template <class T, class Values>
nanobind::object to_numpy(const Values& values) {
  nanobind::object array = new_numpy<T>(values.size());
  Py_buffer room;
  if (PyObject_GetBuffer(array.ptr(), &room, PyBUF_WRITABLE)) throw nanobind::python_error();
  std::copy(values.begin(), values.end(), static_cast<T*>(room.buf));
  PyBuffer_Release(&room);
  return array;
}

// The numbers of an array, if it has one row and keeps them together.
class Row {
 public:
  explicit Row(nanobind::handle array)
      : open_(!PyObject_GetBuffer(array.ptr(), &row_, PyBUF_ND | PyBUF_FORMAT)) {
    PyErr_Clear();
  }
  ~Row() {
    if (open_) PyBuffer_Release(&row_);
  }
  Row(const Row&) = delete;

  // Whether they are whole numbers of exactly this type.
  template <class T>
  bool holds() const {
    const std::string_view format = open_ && row_.format ? row_.format : "";
    const std::string_view kinds = std::is_signed_v<T> ? "bhilq" : "BHILQ";
    return format.size() == 1 && kinds.find(format[0]) != kinds.npos && row_.ndim == 1 &&
           row_.itemsize == sizeof(T) && std::is_integral_v<T>;
  }
  template <class T>
  std::span<const T> values() const {
    return {static_cast<const T*>(row_.buf), static_cast<size_t>(row_.shape[0])};
  }

 private:
  Py_buffer row_;
  const bool open_;
};

}  // namespace supratok

namespace nanobind::detail {

// A str is read as a view, a list of str as views or copies, a sequence of numbers as a copy. They
// are read when the function is called, for only then may an error go up.
template <class Value_>
struct source_caster {
  using Value = Value_;
  template <class>
  using Cast = Value;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }

  object source;
};

template <>
struct type_caster<std::string_view> : source_caster<std::string_view> {
  static constexpr auto Name = const_name("str");
  bool from_python(handle given, uint8_t, cleanup_list*) noexcept {
    source = borrow(given);
    return PyUnicode_Check(given.ptr());
  }
  static handle from_cpp(std::string_view text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  }
  operator std::string_view() { return supratok::view(source); }
};

template <class Text>
  requires std::is_convertible_v<std::string_view, Text> || std::is_same_v<Text, std::string>
struct type_caster<std::vector<Text>> : source_caster<std::vector<Text>> {
  static constexpr auto Name = const_name("list[str]");
  bool from_python(handle given, uint8_t, cleanup_list*) noexcept {
    this->source = borrow(given);
    return PyList_Check(given.ptr());
  }
  static handle from_cpp(const std::vector<Text>& texts, rv_policy, cleanup_list*) {
    list all;
    for (const std::string_view text : texts) all.append(text);
    return all.release();
  }
  operator std::vector<Text>() {
    std::vector<Text> all;
    for (handle text : this->source) all.emplace_back(supratok::view(text));
    return all;
  }
};

// A vector of numbers comes from any sequence and goes out as a NumPy array.
template <class T>
  requires std::is_arithmetic_v<T>
struct type_caster<std::vector<T>> : source_caster<std::vector<T>> {
  static constexpr auto Name =
      const_name("collections.abc.Sequence[") + make_caster<T>::Name + const_name("]");
  bool from_python(handle given, uint8_t, cleanup_list*) noexcept {
    this->source = borrow(given);
    return PySequence_Check(given.ptr());
  }
  static handle from_cpp(const std::vector<T>& values, rv_policy, cleanup_list*) {
    return supratok::to_numpy<T>(values).release();
  }
  operator std::vector<T>() {
    PyObject* const given = this->source.ptr();
    if (!PyList_Check(given)) {
      const supratok::Row row(given);
      if (row.holds<T>()) return {row.values<T>().begin(), row.values<T>().end()};
    }
    const object items = PyList_Check(given) ? this->source : steal(PySequence_List(given));
    if (!items.is_valid()) throw python_error();
    std::vector<T> all(len(items));
    for (size_t i = 0; i < all.size(); ++i)
      if (!try_cast(handle(NB_LIST_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i))), all[i]))
        throw type_error("a sequence holds something that is no number of the right size");
    return all;
  }
};

}  // namespace nanobind::detail

namespace supratok {

namespace nb = nanobind;
using namespace nb::literals;

// Calls what calls Python. While the interpreter exits, Python ends a daemon thread that asks for
// the GIL; up to version 3.13 by unwinding its stack, which aborts the process at the first frame
// that lets no exception through. So such a thread stays here until the process ends.
template <class Call>
auto in_python(Call call) {
  try {
    return call();
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Releases the GIL. Work that breathes takes it for a moment now and then: a signal ends the work.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { lock(); }

  // Calls act() with the GIL.
  template <class Act>
  void locked(Act act) {
    const Watched unwatched(nullptr);  // Python may run code that uses the core
    lock();
    struct Unlock {
      PyThreadState*& state;
      ~Unlock() { state = PyEval_SaveThread(); }
    } unlock{state_};
    in_python(act);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void lock() {
    in_python([&] { PyEval_RestoreThread(state_); });
  }
  void poll() {
    const auto start = Clock::now();
    if (start < next_) return;
    locked([&] {
      // Waiting for a busy GIL takes up a small part of the time.
      next_ = start + kBreath + 20 * (Clock::now() - start);
      if (PyErr_CheckSignals()) throw nb::python_error();
    });
  }

  PyThreadState* state_;
  inline static thread_local Clock::time_point next_{};
  const Watch poll_ = [this] { poll(); };
  const Watched watched_{&poll_};
};

using Released = nb::call_guard<Unlocked>;
using Strings = std::vector<std::string>;

inline void check_sizes(const Texts& texts, const Counts& numbers) {
  if (numbers.size() != texts.size()) throw nb::value_error("as many numbers as texts");
}

// What Python sees of some lines of JSON: it can hand them over once.
struct LinesOnce {
  std::unique_ptr<Lines> lines;
  std::unique_ptr<Lines> take() {
    if (!lines) throw nb::value_error("these lines were counted already; read them again");
    lines->begin();
    return std::move(lines);
  }
};

// Reads the documents here, under the GIL, while other threads call count(texts). A document is a
// str; `LinesOnce` among them are many.
inline void count_all(std::function<void(const Texts&)> count, nb::handle documents,
                      size_t threads) {
  Counting counting(std::move(count), threads);
  const nb::object reader = in_python([&] { return nb::object(nb::iter(documents)); });
  while (true) {
    const nb::object document = in_python([&] { return nb::steal(PyIter_Next(reader.ptr())); });
    if (PyErr_Occurred()) {
      nb::python_error error;
      counting.check();  // the reader may fail because it misses what a thread could not count
      throw error;
    }
    if (!document.is_valid()) break;
    LinesOnce* lines = nullptr;
    const bool raw = !PyUnicode_Check(document.ptr()) && nb::try_cast(document, lines) && lines;
    if (!raw && !counting.add(view(document))) continue;
    std::unique_ptr<Lines> taken = raw ? lines->take() : nullptr;
    const Unlocked released;
    raw ? counting.hand_over(std::move(taken)) : counting.hand_over();
  }
  const Unlocked released;
  counting.finish();
}

// Calls count(block) for each block of the store, on several threads; and progress(bytes of the
// texts done), unless it is None, on this one.
inline void count_blocks(std::function<void(const Block&)> count, const Store& store,
                         size_t threads, nb::handle progress) {
  std::atomic<uint64_t> done{0};
  auto next = std::chrono::steady_clock::now();
  Unlocked released;
  const std::thread::id here = std::this_thread::get_id();
  const auto work = [&](size_t i) {
    {  // a signal's handler must not count in between
      std::optional<Watched> unwatched;
      if (std::this_thread::get_id() == here) unwatched.emplace(nullptr);
      count(store.block(i));
    }
    done += store.bytes_of(i);
    breathe();
  };
  const auto show = [&] {
    if (progress.is_none() || std::chrono::steady_clock::now() < next) return;
    released.locked([&] { progress(done.load()); });
    next = std::chrono::steady_clock::now() + 2 * kBreath;
  };
  in_parallel(store.blocks(), threads, work, show);
}

// The method `count` of every table: over texts or a store. A table that has no way of its own over
// the blocks of a store gets their texts.
template <class Table, class... More>
void count(Table& table, nb::object documents, size_t threads, nb::object progress, More... more) {
  const auto add = [&](const Block& block) {
    if constexpr (requires { table.add(block, more...); }) {
      table.add(block, more...);
    } else {
      std::string room;
      table.add(block.texts(room), more...);
    }
  };
  if (nb::isinstance<Store>(documents)) {
    const Store& store = nb::cast<const Store&>(documents);
    if constexpr (requires { table.prepare(store.lexicon(threads), threads); }) {
      const Unlocked released;
      table.prepare(store.lexicon(threads), threads);
    }
    return count_blocks(add, store, threads, progress);
  }
  count_all([&](const Texts& texts) { table.add(texts, more...); }, documents, threads);
}

// Where Python keeps temporary files.
inline std::filesystem::path temporary_folder() {
  const nb::object folder = nb::module_::import_("tempfile").attr("gettempdir")();
  const std::string_view text = view(folder);
  return std::u8string(text.begin(), text.end());
}

void bind_rows(nb::module_& m);
void bind_text(nb::module_& m);
void bind_lines(nb::module_& m);
void bind_store(nb::module_& m);
void bind_words(nb::module_& m);
void bind_merge(nb::module_& m);
void bind_spans(nb::module_& m);
void bind_encode(nb::module_& m);
void bind_boundaries(nb::module_& m);
void bind_tokens(nb::module_& m);

}  // namespace supratok
