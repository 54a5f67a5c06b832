// What the bindings share: texts in, arrays out, and the GIL released in between.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "text.hpp"
#include "threads.hpp"

namespace nanobind::detail {

// A vector of numbers comes from any sequence and goes out as a NumPy array.
template <class T>
  requires std::is_arithmetic_v<T>
struct type_caster<std::vector<T>> : list_caster<std::vector<T>, T> {
  static handle from_cpp(std::vector<T> values, rv_policy, cleanup_list*) {
    auto* kept = new std::vector<T>(std::move(values));
    capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return cast(ndarray<numpy, T, ndim<1>>(kept->data(), {kept->size()}, owner)).release();
  }
};

}  // namespace nanobind::detail

namespace supratok {

namespace nb = nanobind;
using namespace nb::literals;

using Released = nb::call_guard<nb::gil_scoped_release>;
using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A view of a str's UTF-8, which the str keeps. A lone surrogate has none: Python's error goes up.
inline std::string_view view(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!data) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

inline Texts views(const nb::list& texts) {
  Texts all;
  all.reserve(nb::len(texts));
  for (nb::handle text : texts) all.push_back(view(text));
  return all;
}

inline std::vector<std::string> strings(const nb::list& texts) {
  const Texts all = views(texts);
  return {all.begin(), all.end()};
}

// The method `count` of every table: reads the documents here, under the GIL, while other threads
// count.
template <class Table>
void count_all(Table& table, nb::iterable documents, size_t threads) {
  Counting counting([&](const Texts& texts) { table.add(texts); }, threads);
  for (nb::handle document : documents) {
    if (!counting.add(view(document))) continue;
    nb::gil_scoped_release released;
    counting.hand_over();
  }
  nb::gil_scoped_release released;
  counting.finish();
}

void bind_text(nb::module_& m);
void bind_words(nb::module_& m);
void bind_merge(nb::module_& m);
void bind_spans(nb::module_& m);
void bind_encode(nb::module_& m);

}  // namespace supratok
