// The methods of every table whose rows may go to files and come from them.
#pragma once

#include "bind.hpp"
#include "text_counts.hpp"

namespace supratok {

// Rows as an iterator of blocks (rows.hpp), while the table that has them stays as it is.
class RowBlocks {
 public:
  explicit RowBlocks(std::unique_ptr<RowStream> rows, const SharedCounts* table = nullptr)
      : rows_(std::move(rows)), table_(table), version_(table ? table->version() : 0) {}
  nb::bytes next() {
    if (table_ && table_->version() != version_)
      throw nb::value_error("the table has changed; ask for its rows again");
    while (rows_->next())
      if (block_.add(rows_->row().text, rows_->row().count)) break;
    if (block_.empty()) throw nb::stop_iteration();
    const std::string bytes = block_.take();
    return nb::bytes(bytes.data(), bytes.size());
  }

 private:
  std::unique_ptr<RowStream> rows_;
  const SharedCounts* table_;
  size_t version_;
  RowBlock block_;
};

// Adds the rows of a block, each of which must fit the table.
void add_rows(SharedCounts& table, std::string_view block,
              const std::function<bool(std::string_view)>& fits);

template <class Table, SharedCounts Table::* kRows>
void def_rows(nb::module_& m, const char* name) {
  nb::borrow<nb::class_<Table>>(m.attr(name))
      .def(
          "limit",
          [](Table& self, size_t bytes, std::string_view folder, size_t threads) {
            (self.*kRows).limit(bytes, std::u8string(folder.begin(), folder.end()), threads);
          },
          "bytes"_a, "folder"_a, "threads"_a = 1,
          "Keeps about so many bytes in memory; other rows go to files in the folder, which vanish "
          "with the table. Methods merge them on so many threads.")
      .def(
          "rows_blocks",
          [](const Table& self) { return RowBlocks((self.*kRows).sorted(), &(self.*kRows)); },
          nb::keep_alive<0, 1>(), Released(),
          "All rows, sorted, as blocks of a file (docs/counts.md).")
      .def(
          "add_rows",
          [](Table& self, nb::bytes block) {
            const std::string_view bytes(block.c_str(), block.size());
            const Unlocked released;
            add_rows(self.*kRows, bytes, [&](std::string_view text) { return self.fits(text); });
          },
          "block"_a, "Adds the rows of such a block.");
}

}  // namespace supratok
