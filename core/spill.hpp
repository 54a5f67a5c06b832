// Files for rows that memory has no room for.
#pragma once

#include "rows.hpp"

namespace supratok {

// A file with sorted runs of rows. One thread writes at a time; many may read.
class SpillFile {
 public:
  struct Run {
    uint64_t start, end, rows;
  };
  explicit SpillFile(const std::filesystem::path& folder) : file_(folder, File::Mode::kPrivate) {
    // Where the system lets an open file lose its name, nothing is left however the process ends.
    std::error_code ignored;
    std::filesystem::remove(file_.path(), ignored);
  }

  // Writes all rows of a stream behind those that are there.
  Run write(RowStream& rows) {
    Run run{end_, end_, 0};
    RowBlock block(kBlock);
    const auto put = [&] {
      const std::string bytes = block.take();
      file_.write(bytes, run.end);
      run.end += bytes.size();
    };
    for (; rows.next(); breathe(++run.rows))
      if (block.add(rows.row().text, rows.row().count)) put();
    if (!block.empty()) put();
    end_ = run.end;  // what came to no end is written over
    return run;
  }
  static std::unique_ptr<RowStream> read(std::shared_ptr<const SpillFile> file, const Run& run) {
    const auto fetch = [file, at = run.start, end = run.end](std::string& block) mutable {
      if (at == end) return false;
      block.resize(kRowsHeader);
      bool whole = file->file_.read(block.data(), kRowsHeader, at);
      const uint64_t size = kRowsHeader + uint64_t{number_at(block, 0)};
      block.resize(std::min(size, end - at));
      whole = whole && file->file_.read(block.data(), block.size(), at);
      if (!whole) block.clear();  // the reader notices
      at += block.size();
      return true;
    };
    return std::make_unique<RowReader>(fetch, file->file_.path());
  }

 private:
  static constexpr size_t kBlock = 1 << 16;  // small, for a merge has one of each run in memory
  File file_;
  uint64_t end_ = 0;
};

}  // namespace supratok
