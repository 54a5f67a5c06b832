// Tables of words, bigrams and runs.
#include "bigrams.hpp"
#include "bind_rows.hpp"
#include "ngrams.hpp"
#include "runs.hpp"
#include "words.hpp"

namespace supratok {
namespace {

// A method that returns words and counts, as Python's own.
template <class Argument>
auto rows_of(WordTable::Rows (WordTable::*method)(Argument) const) {
  return [method](const WordTable& self, Argument argument) {
    std::optional<WordTable::Rows> rows;
    {
      const Unlocked released;
      rows = (self.*method)(argument);
    }
    return nb::make_tuple(rows->texts, rows->counts);
  };
}

// The numbers of an array of uint32.
struct Numbers32 {
  explicit Numbers32(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT))
      throw nb::python_error();
    data = static_cast<const uint32_t*>(buffer.buf);
    size = static_cast<size_t>(buffer.len) / sizeof(uint32_t);
    if (std::string_view(buffer.format) == "I") return;
    PyBuffer_Release(&buffer);
    throw nb::type_error("an array of uint32 is needed");
  }
  ~Numbers32() { PyBuffer_Release(&buffer); }
  Numbers32(const Numbers32&) = delete;
  Py_buffer buffer;
  const uint32_t* data;
  size_t size;
};

void bind_runs(nb::module_& m) {
  nb::class_<Units>(m, "Units")
      .def(
          "__init__",
          [](Units* self, Strings known_words, const Joints& joints, const Encoder* pieces,
             const std::vector<uint8_t>& scripts) {
            new (self) Units(std::move(known_words), joints, {pieces, scripts});
          },
          "known_words"_a, "joints"_a, "pieces"_a.none() = nb::none(), "scripts"_a = nb::list(),
          nb::keep_alive<1, 4>(), "`pieces` cuts the unknown words of these scripts into pieces.")
      .def(
          "bound_pairs",
          [](Units& self, nb::object documents, size_t threads, PairSketch& pairs,
             nb::object progress) {
            UnitBounds bounds(self, pairs);
            count(bounds, documents, threads, progress);
            return std::move(bounds.uses);
          },
          "documents"_a, "threads"_a, "pairs"_a, "progress"_a = nb::none(),
          "Bounds the pairs of units in `pairs`. Returns how often each known word was seen, as a "
          "word or a piece.");

  nb::class_<RunTable>(m, "RunTable")
      .def(nb::init<Units&, const PairSketch&, uint32_t, bool>(), "units"_a, "pairs"_a, "floor"_a,
           "of_units"_a = false, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
           "`pairs` bounds pairs of words or, with `of_units`, of units.")
      .def("count", &count<RunTable>, "documents"_a, "threads"_a, "progress"_a = nb::none())
      .def(
          "ngrams",
          [](RunTable& self, size_t longest, int64_t min_count) {
            Ngrams found(Sequences::of_runs(self.runs, false),
                         static_cast<uint32_t>(self.known_words()), longest, min_count);
            return std::tuple(std::move(found.lefts), std::move(found.rights),
                              std::move(found.counts), std::move(found.tried),
                              std::move(found.frequent));
          },
          "longest"_a, "min_count"_a, Released(),
          "N-grams of words: of each its first and its last n-1 words, as numbers (the known "
          "words, then the n-grams, in order), and its count; then, by length from 2, how many "
          "different ones were counted and how many are frequent.")
      .def("__len__", [](const RunTable& self) { return self.runs.size(); }, Released());
  def_rows<RunTable, &RunTable::runs>(m, "RunTable");
}

}  // namespace

void bind_words(nb::module_& m) {
  nb::class_<PairSketch>(m, "PairSketch", "A bound for the count of every pair of neighbours.")
      .def(nb::init<int>(), "bits"_a)
      .def("at_least", &PairSketch::at_least, "count"_a,
           "About how many pairs were seen this often.")
      .def("counters", &PairSketch::counters, Released(), "All counters.")
      .def(
          "add",
          [](PairSketch& self, nb::object counters) {
            const Numbers32 values(counters);
            self.add(values.data, values.size);
          },
          "counters"_a, "Adds those of another sketch.");
  nb::class_<WordTable>(m, "WordTable")
      .def(nb::init<int, bool, std::optional<Joints>>(), "sketch_bits"_a, "by_class"_a = true,
           "joints"_a = nb::none(), "With `joints`, words that may join are counted as one text.")
      .def(
          "count",
          [](WordTable& self, nb::object documents, size_t threads, Store* store,
             nb::object progress) {
            if (!store) return count(self, documents, threads, progress);
            if (!self.counts_words() || nb::isinstance<Store>(documents))
              throw nb::value_error("a store takes the words of texts, at their first reading");
            count_all([&](const Texts& texts) { self.add(texts, store); }, documents, threads);
          },
          "documents"_a, "threads"_a, "store"_a.none() = nb::none(), "progress"_a = nb::none(),
          "Counts the words of texts, and adds them to `store`; or those of a store.")
      .def("rows", rows_of(&WordTable::rows), "least"_a = 1,
           "The words seen at least so often, most frequent first.")
      .def("rows_of_script", rows_of(&WordTable::rows_of_script), "script"_a,
           "The words of a script, by its number.")
      .def("counts_of", &WordTable::counts_of, "texts"_a, Released(),
           "How often each of these words was seen.")
      .def("totals", &WordTable::totals, Released(),
           "How many words were seen of each class (see core/text.hpp).")
      .def("characters", &WordTable::characters, Released(),
           "How often each code point was seen, an array of 0x110000.")
      .def_prop_ro(
          "pairs", [](WordTable& self) -> PairSketch& { return self.pairs; },
          nb::rv_policy::reference_internal, "Bounds for pairs of neighbouring words.")
      .def("__len__", [](const WordTable& self) { return self.words.size(); }, Released());
  def_rows<WordTable, &WordTable::words>(m, "WordTable");

  nb::class_<Bigrams>(m, "Bigrams")
      .def(
          "__init__",
          [](Bigrams* self, const WordTable& words, const std::vector<uint8_t>& scripts) {
            new (self) Bigrams(words.words, scripts);
          },
          "words"_a, "scripts"_a, Released())
      .def("below", &Bigrams::below, "count"_a,
           "How many bigrams were seen less often than this, and how often in all.")
      .def("__len__", &Bigrams::size);

  bind_runs(m);
}

}  // namespace supratok
