// Spans and their neighbours.
#include "bind_rows.hpp"
#include "spans.hpp"

namespace supratok {

void bind_spans(nb::module_& m) {
  nb::class_<SpanTable>(m, "SpanTable")
      .def(nb::init<Strings, Numbers, std::vector<uint8_t>, size_t>(), "words"_a, "groups"_a,
           "begins"_a, "max_words"_a)
      .def("find", &SpanTable::find, "documents"_a, "words"_a, "floor"_a, Released(),
           "Adds the spans of the documents whose every pair may have been seen `floor` times. "
           "Returns how all sequences of words divide: spans, rare, not beginning, and by class.")
      .def("count", &count<SpanTable>, "documents"_a, "threads"_a, "progress"_a = nb::none())
      .def("take_counts", &SpanTable::take_counts,
           "The counts since the last call: spans, the documents with each, the documents with "
           "each group, sequences of 1, 2, ... letter words, documents.")
      .def("rows", &SpanTable::rows,
           "The words of each span, max_words numbers a span; 2**32 - 1 where it is shorter.")
      .def("__len__", &SpanTable::size);

  nb::class_<NeighbourTable>(m, "NeighbourTable")
      .def(nb::init<const SpanTable&, const Numbers&>(), "table"_a, "spans"_a,
           nb::keep_alive<1, 2>())
      .def("count", &count<NeighbourTable>, "documents"_a, "threads"_a, "progress"_a = nb::none())
      .def(
          "summary", [](const NeighbourTable& self) { return std::tuple_cat(self.summary()); },
          Released(),
          "By span: entropy and share of the most frequent neighbour, before and after it.");
  def_rows<NeighbourTable, &NeighbourTable::neighbours>(m, "NeighbourTable");
}

}  // namespace supratok
