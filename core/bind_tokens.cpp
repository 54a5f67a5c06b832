// The tokens in a file.
#include "bind.hpp"
#include "token_lines.hpp"

namespace supratok {
namespace {

// The texts, the counts as bytes of int64, the births, and what the checksum has of them; None if
// the lines are odd, a text is empty or too long, or a birth is none of these.
nb::object read_tokens(const nb::bytes& data, size_t start, const nb::list& births,
                       size_t longest) {
  const std::string_view all(data.c_str(), data.size());
  TokenLines lines(all.substr(std::min(start, all.size())));
  const Texts names = [&] {
    Texts views;
    for (const nb::handle name : births) views.push_back(view(name));
    return views;
  }();
  nb::list texts, born;
  Counts counts;
  while (!lines.done) {
    if (counts.size() % 8192 == 0 && PyErr_CheckSignals()) throw nb::python_error();
    if (!lines.next() || lines.text.empty() || lines.text.size() > longest) return nb::none();
    const auto size = static_cast<Py_ssize_t>(lines.text.size());
    const auto text = nb::steal(PyUnicode_DecodeUTF8(lines.text.data(), size, nullptr));
    if (!text.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw nb::python_error();
      PyErr_Clear();
      return nb::none();
    }
    const auto name = std::find(names.begin(), names.end(), lines.born);
    if (name == names.end()) return nb::none();
    texts.append(text);
    born.append(births[static_cast<size_t>(name - names.begin())]);
    counts.push_back(lines.count);
  }
  const auto bytes = [](const void* from, size_t size) {
    auto made = nb::steal(
        PyBytes_FromStringAndSize(static_cast<const char*>(from), static_cast<Py_ssize_t>(size)));
    if (!made.is_valid()) throw nb::python_error();
    return made;
  };
  return nb::make_tuple(texts, bytes(counts.data(), counts.size() * sizeof(int64_t)), born,
                        bytes(lines.canonical.data(), lines.canonical.size()));
}

}  // namespace

void bind_tokens(nb::module_& m) {
  m.def("read_tokens", &read_tokens, "data"_a, "start"_a, "births"_a, "longest"_a,
        "The tokens in a file from a place on, which has the form that `save` writes: texts, "
        "counts as bytes of int64, births, and what the checksum has of them. Else None.");
}

}  // namespace supratok
