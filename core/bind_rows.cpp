// Rows of tables, as blocks of files.
#include "bind_rows.hpp"

namespace supratok {

void add_rows(SharedCounts& table, std::string_view block,
              const std::function<bool(std::string_view)>& fits) {
  constexpr size_t kPortion = 1 << 20;  // texts of a block may be far larger than the block
  bool given = false;
  RowReader rows(
      [&](std::string& into) {
        if (std::exchange(given, true)) return false;
        into = block;
        return true;
      },
      "a block of rows");
  std::string texts;  // end to end
  std::vector<std::pair<size_t, int64_t>> sizes;
  const auto hand_over = [&] {
    SharedCounts::Batch batch;
    size_t start = 0;
    for (const auto& [size, count] : sizes)
      batch.add(std::string_view(texts).substr(std::exchange(start, start + size), size), count);
    table.add(batch);
    texts.clear();
    sizes.clear();
  };
  while (rows.next()) {
    const auto& [text, count] = rows.row();
    if (!fits(text))
      throw nb::value_error("a row does not fit the table: was it made for another?");
    texts += text;
    sizes.emplace_back(text.size(), count);
    if (texts.size() >= kPortion) hand_over();
  }
  hand_over();
}

namespace {

RowBlocks merge_rows(nb::list streams) {
  std::vector<std::unique_ptr<RowStream>> inputs;
  for (nb::handle stream : streams) {
    const auto fetch = [iterator = nb::object(nb::iter(stream))](std::string& block) {
      const nb::object next = nb::steal(PyIter_Next(iterator.ptr()));
      if (PyErr_Occurred()) throw nb::python_error();
      if (!next.is_valid()) return false;
      const nb::bytes bytes = nb::cast<nb::bytes>(next);
      block.assign(bytes.c_str(), bytes.size());
      return true;
    };
    inputs.push_back(
        std::make_unique<RowReader>(fetch, "stream " + std::to_string(inputs.size()) + " of rows"));
  }
  return RowBlocks(std::make_unique<RowMerge>(std::move(inputs)));
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<RowBlocks>(m, "RowBlocks")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &RowBlocks::next);
  m.def("merge_rows", &merge_rows, "streams"_a,
        "Merges streams of blocks of rows into one, adding the counts of equal texts.");
}

}  // namespace supratok
