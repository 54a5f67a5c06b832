// Lines of JSON, and the numbers that decide on documents.
#include "bind.hpp"

namespace supratok {
namespace {

using SharedSieve = std::shared_ptr<Sieve>;  // lines under way keep it

nb::object to_bytes(std::string_view data) {
  auto made =
      nb::steal(PyBytes_FromStringAndSize(data.data(), static_cast<Py_ssize_t>(data.size())));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

std::unique_ptr<Lines> join(const SharedSieve& sieve, size_t file, size_t first,
                            const nb::list& blocks) {
  Texts parts;
  size_t size = 0;
  for (const nb::handle block : blocks) {
    char* data = nullptr;
    Py_ssize_t length = 0;
    if (PyBytes_AsStringAndSize(block.ptr(), &data, &length)) throw nb::python_error();
    parts.emplace_back(data, static_cast<size_t>(length));
    size += parts.back().size();
  }
  const Unlocked released;
  std::string whole;
  whole.reserve(size);
  for (const std::string_view part : parts) whole += part;
  return std::make_unique<Lines>(sieve, file, first, std::move(whole));
}

auto take(const SharedSieve& sieve) {
  const Sieve::Found found = sieve->take();
  nb::list odd, texts;
  for (const auto& [file, number, line] : found.odd)
    odd.append(nb::make_tuple(file, number, to_bytes(line)));
  for (const auto& [text, digest] : found.texts)
    texts.append(nb::make_tuple(std::string_view(text), digest));
  return nb::make_tuple(found.documents, found.held_out, found.characters, odd, texts);
}

}  // namespace

void bind_lines(nb::module_& m) {
  m.def("digest", &digest_of, "text"_a, "The first 8 bytes of BLAKE2b, as a number.");
  m.def("sample_chance", &sample_chance, "digest"_a, "See core/sample.hpp.");

  nb::class_<Sampler>(m, "Sampler")
      .def(nb::init<std::optional<uint64_t>, std::optional<uint64_t>>(),
           "max_documents"_a = nb::none(), "max_bytes"_a = nb::none())
      .def("count", &count<Sampler>, "documents"_a, "threads"_a, "progress"_a = nb::none())
      .def("limit", &Sampler::limit,
           "The highest chance of a document in the sample; None: all are in it.");

  struct PySieve {
    SharedSieve sieve;
  };
  nb::class_<PySieve>(m, "Sieve")
      .def(
          "__init__",
          [](PySieve* self, std::string_view key, size_t longest, std::optional<uint64_t> hold_out,
             std::optional<uint64_t> sample) {
            new (self) PySieve{
                std::make_shared<Sieve>(Sieve::Rules{std::string(key), longest, hold_out, sample})};
          },
          "key"_a, "longest"_a, "hold_out"_a = nb::none(), "sample"_a = nb::none(),
          "Decides on lines of JSON (see core/lines.hpp) by the key of the text and the bytes of "
          "the longest line; holds out texts with a digest up to `hold_out`, and leaves out those "
          "with a chance above `sample`.")
      .def(
          "take", [](const PySieve& self) { return take(self.sieve); },
          "What was found since the last call: documents, those held out among them, characters of "
          "the others; odd lines, each with the number of its file and its own; held-out texts, "
          "each with its digest.")
      .def(
          "wait", [](const PySieve& self) { self.sieve->wait(); }, Released(),
          "Waits until all lines that were handed over are counted.");

  nb::class_<LinesOnce>(m, "Lines")
      .def(
          "__init__",
          [](LinesOnce* self, const PySieve& sieve, size_t file, size_t first,
             const nb::list& blocks) {
            new (self) LinesOnce{join(sieve.sieve, file, first, blocks)};
          },
          "sieve"_a, "file"_a, "first"_a, "blocks"_a,
          "Whole lines of a file, of which the first has this number. A table counts them in place "
          "of a text.");
}

}  // namespace supratok
